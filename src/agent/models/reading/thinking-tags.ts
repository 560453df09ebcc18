// Thinking that a model writes into its text, between tags at its start, for servers that don't separate it.
import type { ModelEvent, TakeEvent } from '../event.ts';

const OPENING = '<think>';
export const END_OF_THINKING = '</think>';
/** So many blanks may precede the opening tag. */
const MAX_BLANKS = 256;
/** Events after which no tag is completed. Counts may come between its pieces. */
const ENDS: ReadonlySet<ModelEvent['type']> = new Set(['call-start', 'block-end', 'finish']);

/** `start`: nothing visible has come; `after`: blanks between thinking and text are left out. */
type Place = 'start' | 'thinking' | 'after' | 'text';

/**
 * Takes the events of a reply, and gives the text between the tags as thinking. Tags anywhere but at the start of the reply are words like
 * others. What may be the beginning of a tag is held back until more is known.
 */
export function splitThinking(take: TakeEvent): TakeEvent {
  let place: Place = 'start';
  let held = '';
  const think = (text: string) => {
    if (text !== '') take({ type: 'thinking', text });
  };
  const say = (text: string) => {
    if (text === '') return;
    place = 'text';
    take({ type: 'text', text });
  };
  const places: { readonly [P in Place]: (text: string) => void } = {
    start: (text) => {
      const begun = text.trimStart();
      if (begun.startsWith(OPENING)) {
        place = 'thinking';
        places.thinking(begun.slice(OPENING.length));
      } else if (OPENING.startsWith(begun) && text.length <= MAX_BLANKS) held = text;
      else say(text);
    },
    thinking: (text) => {
      const end = text.indexOf(END_OF_THINKING);
      if (end === -1) {
        const kept = begunTag(text);
        held = text.slice(text.length - kept);
        return think(text.slice(0, text.length - kept));
      }
      think(text.slice(0, end));
      place = 'after';
      places.after(text.slice(end + END_OF_THINKING.length));
    },
    after: (text) => say(text.trimStart()),
    text: say,
  };
  return (event) => {
    if (event.type !== 'text' && !ENDS.has(event.type)) return take(event);
    const text = held;
    held = '';
    if (event.type === 'text') return places[place](text + event.text);
    // What was held back turned out to be no tag.
    if (place === 'thinking') think(text);
    else say(text);
    if (event.type === 'call-start') place = 'text';
    take(event);
  };
}

/** How many characters at the end of a text may begin the closing tag. */
function begunTag(text: string): number {
  for (let length = Math.min(END_OF_THINKING.length - 1, text.length); length > 0; length -= 1) {
    if (END_OF_THINKING.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

/** Thinking as the model wrote it, before its text. */
export const inTags = (thinking: string, text: string): string => `${OPENING}${thinking}${END_OF_THINKING}\n\n${text}`;

/** Whether a text begins with thinking in tags. */
export const hasThinkingTags = (text: string): boolean => text.trimStart().startsWith(OPENING);
