// A conversation on a terminal: the user and the agent take turns until the user leaves.
import { wantsColours } from '../../terminal/colours.ts';
import type { Context } from '../frame/context.ts';
import type { Io } from '../frame/io.ts';
import { runCommand } from './commands.ts';
import { type History, openHistory } from './history.ts';
import { openKeyboard } from './keyboard.ts';
import { makePrompt, type Screen } from './prompt.ts';
import { makeTranscript } from './transcript.ts';
import { type Chat, takeTurn } from './turn.ts';

interface Beginning {
  readonly apiKey: string;
  readonly username: string | undefined;
  readonly model: string;
  readonly sessionId: string | undefined;
  /** The command that began it, for lines to paste. */
  readonly call: string;
}

/** Converses until the user leaves; the terminal is then as it was. Throws the context's signal's reason. */
export async function converse(context: Context, beginning: Beginning): Promise<void> {
  const { io } = context;
  const screen = screenOf(io);
  const keyboard = openKeyboard(io.stdin, io.stdout);
  try {
    const prompt = makePrompt(keyboard, screen);
    const transcript = makeTranscript({ ...screen, write: prompt.write });
    const chat: Chat = { context, keyboard, prompt, transcript, ...beginning };
    transcript.note('/help lists what you can do here; Ctrl-D ends.');
    await takeTurns(chat, openHistory(io.environment));
    if (chat.sessionId !== undefined) transcript.note(`Continue with: ${beginning.call} --session ${chat.sessionId}`);
  } finally {
    keyboard.close();
  }
}

async function takeTurns(chat: Chat, history: History): Promise<void> {
  const { context, prompt, transcript } = chat;
  let isLeaving = false;
  for (;;) {
    const said = await prompt.ask({ label: '> ', earlier: history.messages, signal: context.signal });
    if (said.kind === 'end') return;
    if (said.kind === 'interrupt') {
      if (isLeaving && said.wasEmpty) return;
      isLeaving = said.wasEmpty;
      if (isLeaving) transcript.note('Ctrl-C again ends the conversation.');
      continue;
    }
    isLeaving = false;
    if (said.text.trim() === '') continue;
    history.add(said.text);
    const ends = await runCommand(chat, said.text);
    if (ends === true) return;
    if (ends === undefined) await takeTurn(chat, said.text);
  }
}

function screenOf(io: Io): Screen {
  const size: { readonly columns?: number; readonly rows?: number } = io.stdout as object;
  return {
    write: (text) => void io.stdout.write(text),
    columns: () => size.columns ?? io.columns,
    rows: () => size.rows ?? 24,
    colours: wantsColours(true, io.environment),
  };
}
