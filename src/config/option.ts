// The shape of a setting's line in the table of options, and the names that the table must have.
import type { Schema } from '../catalog/schema.ts';
import type { EgressRule } from '../domain/egress.ts';
import type { Settings } from '../domain/settings.ts';

type Scalar = string | number | boolean;
/** What a setting may hold. */
export type Value = Scalar | readonly EgressRule[] | readonly string[];

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;
type Keys<Section> = Extract<keyof Section, string>;
type Paths<Section> = {
  [Key in Keys<Section>]: Section[Key] extends Value ? Snake<Key> : `${Snake<Key>}.${Paths<Section[Key]>}`;
}[Keys<Section>];
/** The name of a setting in errand.yaml, such as `model.idle_timeout_seconds`. A setting without an option doesn't compile. */
export type SettingName = Paths<Settings>;

/** One setting: what it may be, what it is when nobody says, and the other names it goes by. */
export interface Option {
  readonly schema: Schema;
  /** The default; some follow from the machine or from the listening address in force. */
  readonly fallback: Value | ((listen: string) => Scalar);
  /** Makes the setting of what was written, where they differ. */
  readonly read?: (written: unknown) => Value;
  /** One line for people. */
  readonly about: string;
  /** The key of the command's flags, for the few that have one. */
  readonly flag?: 'listen' | 'publicUrl';
  /** The name in the environment where it is not `ERRAND_` and the setting's own. */
  readonly environment?: string;
}
