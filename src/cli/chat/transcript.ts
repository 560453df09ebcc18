// What the agent says and does, as it appears in a conversation on a terminal.
import { type ConversationEvent, textOfDelta } from '../../client/turns/messages.ts';
import { spokenMs } from '../../domain/figures.ts';
import type { JsonObject } from '../../domain/json.ts';
import { paint, type Style } from '../../terminal/colours.ts';
import { clockOf } from '../../terminal/moments.ts';
import { stopwatch } from '../../terminal/durations.ts';
import { makeFlowingText } from '../../terminal/flowing-text.ts';
import { cutTo, safeLine } from '../../terminal/text.ts';

export interface Transcript {
  /** Shows that the agent is at work, until there is something else to see. */
  begin(): void;
  /** Shows an event, if there is something to see of it. */
  add(event: ConversationEvent): void;
  /** A line of the program's own. */
  note(line: string, style?: Style): void;
  /** Ends a line of the agent that is still open. */
  end(): void;
}

interface Terminal {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly colours: boolean;
}

/** Makes a transcript that writes to a terminal. */
export function makeTranscript({ write, columns, colours }: Terminal): Transcript {
  const text = makeFlowingText({ write, columns, colours });
  const sign = makeSign({ write, colours });
  const end = () => {
    sign.remove();
    text.end();
  };
  const note = (line: string, style: Style = 'dim') => {
    end();
    write(`${colours ? paint(line, style) : line}\n`);
  };
  return {
    begin: sign.show,
    add(event) {
      if (event.type === 'content_block_delta') {
        const piece = textOfDelta(event);
        if (piece.trim() !== '') sign.remove();
        text.add(piece);
      } else if (event.type === 'content_block_stop') text.end();
      else if (event.type === 'tool_use') note(callLine(event, columns()), 'cyan');
      else if (event.type === 'tool_result') note(resultLine(event, columns()), event.ok ? 'dim' : 'red');
      else if (event.type === 'model_wait.started') note(waitLine(event), 'yellow');
      else if (event.type === 'model_wait.ended' && event.answered) note(`  ${safeLine(event.model)} replies.`);
    },
    note,
    end,
  };
}

const SECOND_MS = 1_000;

/** A sign of life on a line of its own, with the seconds that have passed. */
function makeSign({ write, colours }: Pick<Terminal, 'write' | 'colours'>) {
  let timer: NodeJS.Timeout | undefined;
  const draw = (seconds: number) => {
    const words = seconds === 0 ? '…' : `… ${stopwatch(seconds * SECOND_MS)}`;
    write(`\r${colours ? paint(words, 'dim') : words}`);
  };
  const remove = () => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    write('\r\u001b[K');
  };
  const show = () => {
    remove();
    let seconds = 0;
    draw(seconds);
    timer = setInterval(() => draw((seconds += 1)), SECOND_MS);
    timer.unref();
  };
  return { show, remove };
}

/** `* shell ls -l` */
export function callLine({ name, input }: { name: string; input: JsonObject }, columns: number): string {
  return cutTo(`* ${safeLine(`${name} ${subjectOf(input)}`)}`, columns);
}

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly preview: string;
  readonly duration_ms: number;
}

/** `  ✓ shell 1.2 s: total 8` */
function resultLine({ name, ok, preview, duration_ms: ms }: Result, columns: number): string {
  const seconds = ms < 100 ? '' : ` ${spokenMs(ms)}`;
  return cutTo(`  ${ok ? '✓' : '✗'} ${safeLine(name)}${seconds}: ${safeLine(preview)}`, columns);
}

interface Wait {
  readonly message: string;
  readonly patience_ms: number;
  readonly until: string;
}

const SHORT_WAIT_MS = 60_000;

/** `! The model "qwen" could not be read: the connection was refused. Trying until 16:12.` */
export function waitLine({ message, patience_ms: patienceMs, until }: Wait): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const clock = clockOf(Date.parse(until), timeZone, patienceMs < SHORT_WAIT_MS);
  return `! ${safeLine(message)} Trying until ${clock}.`;
}

/** The subject of a tool call: its first text argument. */
function subjectOf(input: JsonObject): string {
  return Object.values(input).find((value) => typeof value === 'string') ?? '';
}
