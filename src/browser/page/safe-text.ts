// Foreign text, as a page shows it: without control characters and direction marks, and no longer than is looked at. Pure.

/** ECMA-48: strings that end with their terminator, sequences that end with a letter, and what has two characters. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /\u001b[\]PX^_][^\u0007\u001b\u009c]{0,256}(?:\u0007|\u001b\\|\u009c)|[\u001b\u009b]\[?[0-?]{0,64}[ -/]{0,8}[@-~]/g;
/** Marks that change the direction of text, so that it looks like a different text. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const CONTROLS = /[^\P{Cc}\n\t]/gu;

const MOST_OF_A_LINE = 400;
const MOST_OF_A_TEXT = 100_000;

/** Text of several lines. */
export function safeText(text: string, most: number = MOST_OF_A_TEXT): string {
  const cut = text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
  return cut.replace(SEQUENCES, '').replaceAll('\r\n', '\n').replace(CONTROLS, '').replace(DIRECTION_MARKS, '');
}

/** Text on one line. */
export function safeLine(text: string, most: number = MOST_OF_A_LINE): string {
  return safeText(text, most).replace(/\s+/g, ' ').trim();
}
