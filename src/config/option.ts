// The shape of a line in the table of options, and the names that the table must contain.
import { integer, type Schema } from '../catalog/reading/schema.ts';
import type { EgressRule } from '../domain/egress.ts';
import type { Settings } from '../domain/settings.ts';

type Scalar = string | number | boolean;
/** The value of a setting. */
export type Value = Scalar | readonly EgressRule[] | readonly string[];

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;
type Keys<Section> = Extract<keyof Section, string>;
type Paths<Section> = {
  [Key in Keys<Section>]: Section[Key] extends Value ? Snake<Key> : `${Snake<Key>}.${Paths<Section[Key]>}`;
}[Keys<Section>];
type Sections<Section> = {
  [Key in Keys<Section>]: Section[Key] extends Value ? never : Snake<Key> | `${Snake<Key>}.${Sections<Section[Key]>}`;
}[Keys<Section>];
/** The name of a setting in errand.yaml, such as `model.idle_timeout_seconds`. A setting without an option doesn't compile. */
export type SettingName = Paths<Settings>;
/** The name of a section of errand.yaml, such as `sso.defaults`. */
export type SectionName = Sections<Settings>;

/** The settings that others follow from: where the daemon listens, and whether it speaks TLS there. */
export interface ListenerSettings {
  readonly listen: string;
  readonly isSecure: boolean;
}

/** One setting: its values, its default, its help, and its other names. */
export interface Option {
  readonly schema: Schema;
  /** The default. Some follow from the machine or from the listening address. */
  readonly fallback: Value | ((listener: ListenerSettings) => Scalar);
  /** An example default for settings whose default is derived. */
  readonly example?: Scalar;
  /** Converts what was written to the setting, where they differ. */
  readonly read?: (written: unknown) => Value;
  /**
   * The help: what it is, with its unit, and what happens at the limit. The only place of these words; `errand serve --help`
   * shows the first sentence.
   */
  readonly about: string;
  /** Whether it depends on the machine, so that each node has its own; all others should be the same at every node. */
  readonly isOfNode?: true;
  /** The key of the command's flags, for the few that have one. */
  readonly flag?: 'listen' | 'publicUrl';
  /** The name in the environment where it is not `ERRAND_` and the setting's own. */
  readonly environment?: string;
}

/** A part of the table. */
export type Options = Partial<Record<SettingName, Option>>;

export const count = (minimum: number, maximum: number) => integer(minimum, maximum);
export const seconds = (minimum: number, maximum: number) => integer(minimum, maximum, 'seconds');
export const milliseconds = (minimum: number, maximum: number) => integer(minimum, maximum, 'milliseconds');
export const megabytes = (minimum: number, maximum: number) => integer(minimum, maximum, 'megabytes');
