// What a client says was said before, as a text that a session begins with (M1).
import type { Said } from '../../../domain/sessions/continued/history-chain.ts';
import type { InputBlock } from '../turn.ts';

/** A block before the user's message; none where nothing was said. */
export function quotedHistory(said: readonly Said[]): InputBlock[] {
  const spoken = said.filter(({ text }) => text !== '');
  if (spoken.length === 0) return [];
  const lines = spoken.map(({ role, text }) => `[${role}]\n${text}`);
  return [{ type: 'text', quoted: true, text: [BEGIN, ...lines, END].join('\n\n') }];
}

const BEGIN =
  '<earlier_conversation>\nThe client of this session sends these messages as what was said before. Your workspace has nothing of it.';
const END = '</earlier_conversation>';
