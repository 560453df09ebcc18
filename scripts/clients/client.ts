// What a client is here: what its users install and set, and how it is made to do what they use it for.
import type { Place } from './place.ts';

/** What a conversation says, with what the scripted model answers. */
export const WORDS = [
  { said: 'first-words [[text=One.]]', answer: 'One.' },
  { said: 'second-words [[text=Two.]]', answer: 'Two.' },
  { said: 'third-words [[text=Three.]]', answer: 'Three.' },
] as const;

export interface Client {
  readonly name: string;
  /** The packages that are tried, `NAME@VERSION`, installed for the trial; else, one of the project's own. The first is shown. */
  readonly packages: readonly string[];
  readonly protocol: 'Chat Completions' | 'Responses' | 'Messages';
  /** What its users set, as Markdown. */
  readonly setting: string;
  /** Its key's `--continue-by`, when that is what makes it remember. */
  readonly continueBy: string;
  /** Says `WORDS` one after another, as one conversation of its own kind. Returns the answers. */
  converse(place: Place, folder: string): Promise<readonly string[]>;
  /** Asks for a stream; returns the text in the pieces in which it came. Absent when the client streams each turn by itself, or never. */
  readonly stream?: (place: Place, folder: string) => Promise<readonly string[]>;
  /** Asks for `{ metres: number }` by a schema, in the way that is its default. */
  readonly structured?: (place: Place, folder: string) => Promise<unknown>;
  /** Sends `TEXT_FILE` with a turn. */
  readonly attach?: (place: Place, folder: string) => Promise<unknown>;
}

/** A file that clients attach. */
export const TEXT_FILE = { name: 'tides.pdf', mediaType: 'application/pdf', bytes: Buffer.from('%PDF-1.4\n') } as const;

/** A reply of the model that submits the result which `structured` asks for. */
export const SUBMITTED = { tools: [{ name: 'submit_result', input: { result: { metres: 3 } } }] };
