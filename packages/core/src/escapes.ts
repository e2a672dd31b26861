/** Escape sequences of terminals, taken out of text: in a time that grows with the text, whoever wrote it. */

/**
 * Sequences with a terminator of their own (OSC, DCS and their like), those with parameters (CSI), and those of two
 * characters. Node's `stripVTControlCharacters` takes minutes for 100 kB made to take them: here no part of a sequence
 * can be read in two ways, and none reaches over the begin of the next.
 */
const SEQUENCES =
  /(?:\u001B[\]PX^_]|[\u009D\u0090\u0098\u009E\u009F])[^\u0007\u001B\u0090\u0098\u009C-\u009F]*(?:\u0007|\u001B\\|\u009C)|(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B[ -/]*[0-Z^-~]/g;

/** The text without them; control characters that begin none stay. */
export function withoutEscapes(text: string): string {
  return text.replace(SEQUENCES, "");
}
