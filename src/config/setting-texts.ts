// Settings by name: in the environment, in errand.yaml, and as text on the command line.
import { didYouMean } from '../catalog/reading/nearest-name.ts';
import { type Schema, section } from '../catalog/reading/schema.ts';
import type { SettingName } from './option.ts';
import { OPTIONS } from './options.ts';

/** The settings' names in the order of the table. */
export const SETTING_NAMES = Object.keys(OPTIONS) as readonly SettingName[];

/** What to tell who asks for a setting that isn't there. */
export const noSuchSetting = (name: string, known: Iterable<string> = SETTING_NAMES): string =>
  `There is no setting ${name}${didYouMean(name, known)}.`;

/** A setting's name in the environment (J2). */
export function environmentName(name: SettingName): string {
  return OPTIONS[name].environment ?? `ERRAND_${name.replaceAll('.', '_').toUpperCase()}`;
}

/** A setting's help where a line has to do: its first sentence, as the help of a flag. */
export function flagHelp(name: SettingName): string {
  const [sentence = ''] = OPTIONS[name].about.split(/[.;] /);
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/** The schema of errand.yaml. */
export function settingsSchema(): Schema {
  return sectionOf(SETTING_NAMES.map((name) => [name.split('.'), OPTIONS[name].schema]));
}

function sectionOf(entries: readonly (readonly [path: readonly string[], schema: Schema])[]): Schema {
  const byKey = Map.groupBy(entries, ([path]) => path[0] ?? '');
  const properties = [...byKey].map(([key, [first, ...others]]) => {
    const [path, schema] = first!;
    if (path.length === 1) return [key, schema] as const;
    return [key, sectionOf([first!, ...others].map(([whole, of]) => [whole.slice(1), of]))] as const;
  });
  return section(Object.fromEntries(properties));
}

/** The value of a text: a number, true or false, or a list in JSON for settings of those types; otherwise the text. Never throws. */
export function readText(name: SettingName, value: string): unknown {
  const { type } = OPTIONS[name].schema;
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value);
  if (Array.isArray(type)) return readJson(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function readJson(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
