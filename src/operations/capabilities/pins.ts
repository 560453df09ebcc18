// Pins to what the configuration doesn't define any more, each with the command that moves it.
import { nearestName } from '../../catalog/reading/nearest-name.ts';
import {
  type Defined,
  type LostPins,
  MOST_LOST_PINS,
  type Pin,
  type PinnedKind,
} from '../../domain/capabilities/pin.ts';
import { shellWord } from '../../terminal/shell-word.ts';

/** A pin, and the command of Errand that moves it to what is defined. */
export interface MovablePin extends Pin {
  readonly command: string;
}

/** How many lost pins are named. */
export const SHOWN_PINS = 10;

/** The same pins, each with its command. */
export function withCommands({ pins, total }: LostPins, defined: Defined): LostPins<MovablePin> {
  return { pins: pins.map((pin) => ({ ...pin, command: commandOf(pin, defined) })), total };
}

const NOUNS = { key: 'keys', user: 'users', task: 'schedules' } as const;
/** What stands for no choice, where no defined name is like the lost one. */
const DEFAULTS = { model: 'auto', scenario: 'none', expert: 'free', team: 'free' } as const;

function commandOf({ holder, id, kind, to }: Pin, defined: Defined): string {
  const nearest = nearestName(to, defined[kind]);
  const [option, value] = isTarget(kind)
    ? ['--target', nearest === undefined ? DEFAULTS[kind] : `${kind}:${nearest}`]
    : [`--${kind}`, nearest ?? DEFAULTS[kind]];
  return `errand ${NOUNS[holder]} set ${shellWord(id)} ${option} ${shellWord(value)}`;
}

function isTarget(kind: PinnedKind): kind is 'expert' | 'team' {
  return kind === 'expert' || kind === 'team';
}

/** Who holds what, on a line. */
export function wordsOfPin({ holder, id, name, username, kind, to }: Pin): string {
  if (holder === 'user') return `user ${username} has the ${kind} ${to}`;
  const named = name === '' ? id : `${id} (${name})`;
  return `${holder === 'key' ? 'key' : 'scheduled task'} ${named} of ${username} has the ${kind} ${to}`;
}

/** How many there are that aren't named; empty when all are. */
export function wordsOfMore({ pins, total }: LostPins): string {
  const more = total - pins.length;
  if (more === 0) return '';
  return `and ${more}${total === MOST_LOST_PINS ? ' or more' : ''} more`;
}

/** Some of them on a line, each with its command. */
export function wordsOfPins({ pins, total }: LostPins<MovablePin>, shown = pins.length): string {
  const some = pins.slice(0, shown);
  const words = some.map((pin) => `${wordsOfPin(pin)}: ${pin.command}`);
  return [...words, wordsOfMore({ pins: some, total })].filter((part) => part !== '').join('; ');
}
