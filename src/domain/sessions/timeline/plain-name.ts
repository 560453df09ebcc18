// Names that a model or its server writes: they can be any text, also a piece of a conversation.

/** As names and ids of tools and calls usually are. */
const FORM = /^[\w.:-]{1,100}$/;

/** The text where it has the form of a name. */
export function plainName(text: string): string {
  return FORM.test(text) ? text : 'unknown';
}
