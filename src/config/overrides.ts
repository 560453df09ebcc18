// Settings that flags and the environment give, which override errand.yaml (J2).
import { type Problem, problemOutside } from '../catalog/reading/problem.ts';
import { misfits } from '../catalog/reading/misfits.ts';
import type { SettingName } from './option.ts';
import { OPTIONS } from './options.ts';
import { environmentName, readText, SETTING_NAMES } from './setting-texts.ts';

/** A setting from a flag or the environment. `label` is its name there. */
export interface Override {
  readonly name: SettingName;
  readonly origin: 'flag' | 'environment';
  readonly label: string;
  readonly text: string;
}

const FLAG_LABELS = { listen: '--listen', publicUrl: '--public-url' } as const;

/**
 * The overrides; later ones win. `variable` returns the text of an environment variable, or null. An unknown `ERRAND_…` variable
 * isn't an error: container platforms set some of their own.
 */
export function readOverrides(
  flags: Partial<Readonly<Record<keyof typeof FLAG_LABELS, string>>>,
  variable: (name: string) => string | null,
): readonly Override[] {
  const overrides: Override[] = [];
  for (const name of SETTING_NAMES) {
    const text = variable(environmentName(name));
    if (text !== null) overrides.push({ name, origin: 'environment', label: environmentName(name), text });
    const { flag } = OPTIONS[name];
    const given = flag && flags[flag];
    if (flag && given !== undefined) overrides.push({ name, origin: 'flag', label: FLAG_LABELS[flag], text: given });
  }
  return overrides;
}

/** Problems of values that don't fit their settings. */
export function checkOverrides(overrides: readonly Override[]): Problem[] {
  return overrides.flatMap(({ name, label, text }) => {
    const [misfit] = misfits(OPTIONS[name].schema, readText(name, text));
    return misfit === undefined ? [] : [problemOutside(`${label}: ${misfit.message}`)];
  });
}
