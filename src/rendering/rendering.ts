// What is rendered, and the limits of it: shared by the process and its host.
import { MB } from '../domain/byte-units.ts';

/** Larger sources are not rendered; of a table, so much is read. */
export const MAX_SOURCE_BYTES = MB;
/** Larger results are not shown. */
export const MAX_HTML_BYTES = 4 * MB;
/** Longer texts keep one colour: highlighting costs much more than escaping. */
export const MAX_HIGHLIGHTED_CHARACTERS = 256 * 1024;

/** Where the relative links of a document lead. */
export interface LinkTargets {
  /** Prefix of the files' addresses; ends with `/`. */
  readonly base: string;
  /** Path of the document's folder; begins and ends with `/`. */
  readonly folder: string;
  /** Paths of the files relative to that folder. */
  readonly paths: readonly string[];
}

/** A text to render, with the name that says its language. */
export type RenderTask = { readonly bytes: Uint8Array; readonly name: string } & (
  | { readonly form: 'markdown'; readonly links: LinkTargets }
  | { readonly form: 'code' }
  /** `isCut`: the file goes on after the bytes. */
  | { readonly form: 'table'; readonly isCut: boolean }
);

/** A heading of a document, for its table of contents. */
export interface Heading {
  /** From 1. */
  readonly level: number;
  /** Of the element. */
  readonly id: string;
  readonly text: string;
}

/** The contents of a document. */
export interface Contents {
  /** The first of its headings. */
  readonly headings: readonly Heading[];
  /** How many more there are. */
  readonly more: number;
}

export const NO_CONTENTS: Contents = { headings: [], more: 0 };

/** Safe HTML in UTF-8, or why there is none. */
export type RenderResult =
  | { readonly kind: 'html'; readonly html: Uint8Array; readonly contents: Contents }
  /** The bytes aren't text. */
  | { readonly kind: 'binary' }
  /** It takes too much time or memory, or the result is too large. Its source may be shown instead. */
  | { readonly kind: 'refused' };
