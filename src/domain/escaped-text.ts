// Texts of others in what a terminal may be shown later.

/** Control characters but line breaks and tabs, and marks that change the direction of text. A carriage return alone would overwrite its line. */
const UNSAFE = /[^\P{Cc}\n\t\r]|\r(?!\n)|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The same text with escapes, as JSON has them, in place of what could harm a terminal that it is shown on later. JSON stays the same. */
export function escapedText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
