// How runs look: the glyph that their state has everywhere, the word for it, and its role.
import { lookOf as lookOfWord } from '../../terminal/states.ts';
import type { Role } from '../text/line.ts';
import type { Row } from './house.ts';

export interface Look {
  readonly glyph: string;
  readonly word: string;
  readonly role: Role;
}

const LOOKS: Readonly<Record<Row['status'] | 'waiting', Pick<Look, 'word' | 'role'>>> = {
  running: { word: 'running', role: 'running' },
  waiting: { word: 'waiting', role: 'waiting' },
  pending: { word: 'pending', role: 'pending' },
  completed: { word: 'completed', role: 'completed' },
  failed: { word: 'failed', role: 'failed' },
  idle: { word: 'stopped', role: 'idle' },
};

/** The look of a run, or of a status. */
export function lookOf({ status, isWaiting = false }: { status: Row['status']; isWaiting?: boolean }): Look {
  const look = LOOKS[isWaiting ? 'waiting' : status];
  return { ...look, glyph: lookOfWord(look.word).glyph };
}
