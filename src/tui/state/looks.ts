// How runs look: the glyph that their state has everywhere, the word for it, and its role.
import { lookOf as lookOfWord } from '../../terminal/states.ts';
import type { Role } from '../text/line.ts';
import type { Row } from './office.ts';

export interface Look {
  readonly glyph: string;
  readonly word: string;
  readonly role: Role;
}

const LOOKS: Readonly<Record<Row['status'] | 'waiting' | 'stalled', Pick<Look, 'word' | 'role'>>> = {
  running: { word: 'running', role: 'running' },
  waiting: { word: 'waiting', role: 'waiting' },
  stalled: { word: 'stalled', role: 'waiting' },
  pending: { word: 'pending', role: 'pending' },
  completed: { word: 'completed', role: 'completed' },
  failed: { word: 'failed', role: 'failed' },
  idle: { word: 'stopped', role: 'idle' },
};

type Looked = Pick<Row, 'status'> & Partial<Pick<Row, 'isWaiting' | 'modelWait'>>;

/** The look of a run, or of a status. */
export function lookOf({ status, isWaiting = false, modelWait = null }: Looked): Look {
  const look = LOOKS[isWaiting ? 'waiting' : modelWait !== null ? 'stalled' : status];
  return { ...look, glyph: lookOfWord(look.word).glyph };
}
