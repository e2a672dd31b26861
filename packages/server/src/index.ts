/** */
export {};
