/** Where conversations are kept: the contract of a store, of texts by name. */

export interface ConversationStore {
  load(id: string): Promise<string | undefined>;
  /** Replaces it as a whole: a crash leaves the old one or the new. */
  save(id: string, text: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** The newest first. */
  list(): Promise<ConversationInfo[]>;
}

export interface ConversationInfo {
  id: string;
  /** When it was last saved, in milliseconds since 1970. */
  savedAt: number;
}
