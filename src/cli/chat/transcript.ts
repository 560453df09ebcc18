// What the agent says and does, as it appears in a conversation on a terminal.
import { type ConversationEvent, textOfDelta } from '../../client/turns/messages.ts';
import { spokenMs } from '../../domain/figures.ts';
import type { JsonObject } from '../../domain/json.ts';
import { paint, type Style } from '../../terminal/colours.ts';
import { clockOf } from '../../terminal/moments.ts';
import { makeFlowingText } from '../../terminal/flowing-text.ts';
import { cutTo, safeLine } from '../../terminal/text.ts';
import { makeSign } from './sign.ts';

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
  const sign = makeSign({ write, colours });
  const writeText = (words: string) => {
    sign.remove();
    write(words);
  };
  const text = makeFlowingText({ write: writeText, columns, colours });
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
      if (event.type === 'content_block_delta') text.add(textOfDelta(event));
      else if (event.type === 'content_block_stop') text.end();
      else if (event.type === 'tool_use') note(callLine(event, columns()), 'cyan');
      else if (event.type === 'tool_result') note(resultLine(event, columns()), event.ok ? 'dim' : 'red');
      else if (event.type === 'model_wait.started') note(waitLine(event), 'yellow');
      else if (event.type === 'model_wait.ended' && event.answered) note(`  ${safeLine(event.model)} replies.`);
    },
    note,
    end,
  };
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
