// Foreign text, as a page shows it: without control characters and direction marks, and no longer than is looked at. Pure.

/** ECMA-48: strings that end with their terminator, sequences that end with a letter, and what has two characters. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /\u001b[\]PX^_][^\u0007\u001b\u009c]{0,256}(?:\u0007|\u001b\\|\u009c)|[\u001b\u009b]\[?[0-?]{0,64}[ -/]{0,8}[@-~]/g;
/** Marks that change the direction of text, so that it looks like a different text. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Ends of lines in other words: those of Windows, and two that patterns take for ends. */
const LINE_ENDS = /\r\n|[\u2028\u2029]/g;
const CONTROLS = /[^\P{Cc}\n\t]/gu;

const MOST_OF_A_LINE = 400;
const MOST_OF_A_TEXT = 100_000;

/** Text of several lines. Where it is cut, it says how much is left out. */
export function safeText(text: string, most: number = MOST_OF_A_TEXT): string {
  const more = text.length - most;
  return more <= 0 ? clean(text) : `${cleanStart(text, most)}… and ${more.toLocaleString('en')} more characters`;
}

/** Text on one line. */
export function safeLine(text: string, most: number = MOST_OF_A_LINE): string {
  const start = text.length > most ? `${cleanStart(text, most)}…` : clean(text);
  return start.replace(/\s+/g, ' ').trim();
}

const cleanStart = (text: string, most: number) => clean(text.slice(0, most).toWellFormed());

const clean = (text: string) =>
  text.replace(SEQUENCES, '').replace(LINE_ENDS, '\n').replace(CONTROLS, '').replace(DIRECTION_MARKS, '');
