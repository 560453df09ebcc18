// Names of the configuration that keys, users and scheduled tasks hold: they stay when what they name is renamed or removed.

export const PINNED_KINDS = ['model', 'scenario', 'expert', 'team'] as const;
export type PinnedKind = (typeof PINNED_KINDS)[number];

export const PIN_HOLDERS = ['key', 'user', 'task'] as const;
export type PinHolder = (typeof PIN_HOLDERS)[number];

/** What can be pinned: the names that are defined, by kind. */
export type Defined = Readonly<Record<PinnedKind, ReadonlySet<string>>>;

/** A name that something holds. `name` is that of the key or the task; a user has their username twice. */
export interface Pin {
  readonly holder: PinHolder;
  readonly id: string;
  readonly name: string;
  readonly username: string;
  readonly kind: PinnedKind;
  readonly to: string;
}

/** Pins to what isn't defined: some of them, and how many there are, counted up to a limit. */
export interface LostPins<P extends Pin = Pin> {
  readonly pins: readonly P[];
  readonly total: number;
}

/** From so many on, lost pins are not counted. */
export const MOST_LOST_PINS = 1_000;
