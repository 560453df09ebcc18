// One turn of a conversation: sent, shown as it happens, and stopped by Ctrl-C.
import type { Client } from '../../client/client.ts';
import type { Conversation } from '../../client/turns/conversation.ts';
import type { KeyVerbs } from '../../client/key-verbs.ts';
import { isClientFailure } from '../../client/transport/client-error.ts';
import { messageOf } from '../../domain/errors.ts';
import { safeLine } from '../../terminal/text.ts';
import type { Context } from '../frame/context.ts';
import { answerOf, questionLines } from './answers.ts';
import type { Keyboard } from './keyboard.ts';
import type { Prompt } from './prompt.ts';
import type { Transcript } from './transcript.ts';

/** A conversation on a terminal. */
export interface Chat {
  readonly context: Context;
  readonly apiKey: string;
  /** Whom it stands for, where it is a user's name in place of one. */
  readonly username: string | undefined;
  readonly model: string;
  readonly keyboard: Keyboard;
  readonly prompt: Prompt;
  readonly transcript: Transcript;
  /** Undefined until the first turn of a session is accepted. */
  sessionId: string | undefined;
}

/** Pauses before the tries to rejoin, about five minutes in total; Ctrl-C ends them. */
const RETRY_DELAYS_MS = [250, 500, 1000, 2000, 4000, ...Array<number>(36).fill(8000)];

/** Takes a turn, and throws only when the program is to end. */
export async function takeTurn(chat: Chat, text: string): Promise<void> {
  const { context, keyboard, transcript } = chat;
  const leaving = new AbortController();
  const client = context.client(AbortSignal.any([context.signal, leaving.signal]));
  const turn: Turn = { chat, client, leaving, stops: 0, conversation: undefined };
  const stopListening = keyboard.onInterrupt(() => interrupt(turn));
  transcript.begin();
  try {
    await follow(turn, text);
  } catch (error) {
    context.signal.throwIfAborted();
    if (leaving.signal.aborted) showLeft(turn);
    else if (turn.stops > 0 && isClientFailure(error, 'failed')) transcript.note('Stopped.');
    else transcript.note(`! ${safeLine(messageOf(error))}`, 'red');
  } finally {
    stopListening();
    transcript.end();
  }
}

interface Turn {
  readonly chat: Chat;
  readonly client: Client;
  readonly leaving: AbortController;
  /** How often the user pressed Ctrl-C. */
  stops: number;
  /** Undefined until the turn is accepted. */
  conversation: Conversation | undefined;
}

/** The first Ctrl-C stops the run, the second leaves it to itself. */
function interrupt(turn: Turn): void {
  turn.stops += 1;
  if (turn.stops > 1) turn.leaving.abort(new Error('left'));
  else {
    turn.chat.transcript.note('Stopping. Ctrl-C again leaves the run as it is.');
    void stop(turn);
  }
}

async function stop({ chat, client, conversation }: Turn): Promise<void> {
  if (conversation === undefined || chat.sessionId === undefined) return;
  try {
    await client.ofKey(chat.apiKey).stop(chat.sessionId);
  } catch (error) {
    if (!chat.context.signal.aborted) chat.transcript.note(`! Not stopped: ${safeLine(messageOf(error))}`, 'red');
  }
}

async function follow(turn: Turn, text: string): Promise<void> {
  const { chat, client } = turn;
  const { context, transcript, apiKey, username, model, sessionId } = chat;
  const onRetry = (tries: number) => {
    if (tries === 1) transcript.note('Connection lost, reconnecting.');
  };
  turn.conversation = await client.messages.stream({
    apiKey,
    username,
    model,
    text,
    sessionId,
    onRetry,
    retryDelaysMs: RETRY_DELAYS_MS,
  });
  chat.sessionId = turn.conversation.sessionId ?? chat.sessionId;
  // Ctrl-C came before there was a run.
  if (turn.stops > 0) void stop(turn);
  const questions = new Map<string, AbortController>();
  let asked: Promise<void> = Promise.resolve();
  try {
    for await (const event of turn.conversation.events) {
      transcript.add(event);
      if (event.type === 'user_input.requested') {
        const settled = new AbortController();
        questions.set(event.request_id, settled);
        const signal = AbortSignal.any([context.signal, turn.leaving.signal, settled.signal]);
        // One after another: there is one prompt. The events continue meanwhile, which may settle the question.
        asked = asked.then(() => ask(turn, event.request_id, signal));
      } else if (event.type === 'user_input.answered' || event.type === 'user_input.expired') {
        questions.get(event.request_id)?.abort(new Error('settled'));
      }
    }
  } finally {
    for (const settled of questions.values()) settled.abort(new Error('settled'));
    await asked;
  }
}

/** Asks the user, until the answer is taken or the question is settled otherwise. Never throws. */
async function ask(turn: Turn, requestId: string, signal: AbortSignal): Promise<void> {
  const { chat, client } = turn;
  const { keyboard, prompt, transcript } = chat;
  const verbs = client.ofKey(chat.apiKey);
  let giveBack: (() => void) | undefined;
  try {
    const input = await questionOf(verbs, chat.sessionId, requestId);
    if (input === undefined) return;
    transcript.note(questionLines(input), 'yellow');
    // Typed before the question could be read.
    giveBack = keyboard.setAside();
    while (!signal.aborted) {
      const said = await prompt.ask({ label: 'answer> ', earlier: [], signal });
      if (said.kind !== 'text') return interrupt(turn);
      if (said.text.trim() === '') continue;
      try {
        return await verbs.answer(requestId, answerOf(said.text, input));
      } catch (error) {
        if (!signal.aborted) transcript.note(`! ${safeLine(messageOf(error))}`, 'red');
      }
    }
  } catch (error) {
    if (!signal.aborted) transcript.note(`! ${safeLine(messageOf(error))}`, 'red');
  } finally {
    giveBack?.();
  }
}

async function questionOf(verbs: KeyVerbs, sessionId: string | undefined, requestId: string) {
  if (sessionId === undefined) return undefined;
  return (await verbs.questions(sessionId)).find((question) => question.request_id === requestId)?.tool_input;
}

function showLeft({ chat, conversation }: Turn): void {
  const { call } = chat.context;
  const follow = conversation?.runId ? `${call} runs tail ${conversation.runId}` : `${call} runs list`;
  chat.transcript.note(`The run may continue in the daemon: ${follow}`);
}
