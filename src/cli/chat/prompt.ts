// Where the user types: reads one message from the keyboard and draws it meanwhile.
import { paint } from '../../terminal/colours.ts';
import { type Draft, draftOf, EDITS, EMPTY, insert, toLine } from './draft.ts';
import type { Keyboard } from './keyboard.ts';
import { layoutOf, windowOf } from './layout.ts';

/** What the user did at the prompt: `text` may be empty. */
export type Said =
  | { readonly kind: 'text'; readonly text: string }
  /** Ctrl-C; whether there was nothing to throw away. */
  | { readonly kind: 'interrupt'; readonly wasEmpty: boolean }
  /** Ctrl-D, or the terminal is gone. */
  | { readonly kind: 'end' };

/** The terminal to draw on; its size may change at any time. */
export interface Screen {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly rows: () => number;
  readonly colours: boolean;
}

interface Question {
  readonly label: string;
  /** Earlier messages for the up and down keys, the oldest first. */
  readonly earlier: readonly string[];
  readonly signal: AbortSignal;
}

export interface Prompt {
  /** Throws the signal's reason, with the prompt removed. */
  ask(question: Question): Promise<Said>;
  /** Writes whole lines above the prompt. */
  write(lines: string): void;
}

/** Makes the prompt of a conversation. One `ask` at a time. */
export function makePrompt(keyboard: Keyboard, screen: Screen): Prompt {
  let shown: { readonly draft: Draft; readonly label: string } | undefined;
  /** Row of the cursor in what is drawn. */
  let cursorRow = 0;

  const erased = () => `${cursorRow > 0 ? `\u001b[${cursorRow}A` : ''}\r\u001b[J`;
  const draw = (draft: Draft, label: string, height = Math.max(1, screen.rows() - 1)) => {
    const more = '  ';
    const whole = layoutOf(draft, { columns: screen.columns(), first: label, more });
    const { rows, ...cursor } = windowOf(whole, height);
    const text = rows.join('\n');
    const painted = text.startsWith(label) && screen.colours ? paint(label, 'bold') + text.slice(label.length) : text;
    const up = rows.length - 1 - cursor.cursorRow;
    const right = cursor.cursorColumn > 0 ? `\u001b[${cursor.cursorColumn}C` : '';
    screen.write(`${erased()}${painted}${up > 0 ? `\u001b[${up}A` : ''}\r${right}`);
    cursorRow = cursor.cursorRow;
    shown = { draft, label };
  };
  const remove = () => {
    screen.write(erased());
    cursorRow = 0;
    shown = undefined;
  };
  /** Leaves the whole draft on the screen, and the cursor below it. */
  const finish = ({ text }: Draft, label: string) => {
    draw(draftOf(text), label, Number.POSITIVE_INFINITY);
    screen.write('\n');
    cursorRow = 0;
    shown = undefined;
  };

  return {
    async ask({ label, earlier, signal }) {
      let state: Typing = { draft: EMPTY, at: earlier.length, edited: new Map() };
      try {
        for (;;) {
          draw(state.draft, label);
          const stroke = await keyboard.read(signal);
          const said = stroke === null ? END : 'key' in stroke ? endingOf(stroke.key, state.draft) : undefined;
          if (said !== undefined) {
            finish(state.draft, label);
            return said;
          }
          if (stroke !== null) state = typed(state, stroke, earlier);
        }
      } catch (error) {
        remove();
        throw error;
      }
    },
    write(lines) {
      const before = shown;
      if (before !== undefined) remove();
      screen.write(lines);
      if (before !== undefined) draw(before.draft, before.label);
    },
  };
}

/** `edited` has the drafts of the messages that the up and down keys have left, by their place. */
interface Typing {
  readonly draft: Draft;
  readonly at: number;
  readonly edited: ReadonlyMap<number, string>;
}

const END: Said = { kind: 'end' };

/** What ends the typing: undefined for any other key. */
function endingOf(key: string, { text, cursor }: Draft): Said | undefined {
  if (key === 'C-c') return { kind: 'interrupt', wasEmpty: text === '' };
  if (key === 'C-d' && text === '') return END;
  const goesOn = cursor === text.length && text.endsWith('\\');
  return key === 'return' && !goesOn ? { kind: 'text', text } : undefined;
}

/** What has been typed after one more stroke that does not end it. Exported for tests. */
export function typed(
  state: Typing,
  stroke: { readonly key: string } | { readonly text: string },
  earlier: readonly string[],
): Typing {
  const { draft } = state;
  if ('text' in stroke) return { ...state, draft: insert(draft, stroke.text) };
  const { key } = stroke;
  if (key === 'return') return { ...state, draft: draftOf(`${draft.text.slice(0, -1)}\n`) };
  if (key === 'up' || key === 'down') {
    const by = key === 'up' ? -1 : 1;
    const within = toLine(draft, by);
    return within === undefined ? recalled(state, state.at + by, earlier) : { ...state, draft: within };
  }
  const edit = EDITS[key === 'C-d' ? 'delete' : key];
  return edit === undefined ? state : { ...state, draft: edit(draft) };
}

function recalled(state: Typing, at: number, earlier: readonly string[]): Typing {
  if (at < 0 || at > earlier.length) return state;
  const edited = new Map(state.edited).set(state.at, state.draft.text);
  return { draft: draftOf(edited.get(at) ?? earlier[at] ?? ''), at, edited };
}
