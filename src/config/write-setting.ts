// Changes one setting in the text of errand.yaml, and leaves everything else in it as it is, comments included.
import { Document, isMap, parseDocument } from 'yaml';
import { misfits } from '../catalog/reading/misfits.ts';
import { SETTINGS_FILE } from './config.ts';
import type { SettingName } from './option.ts';
import { OPTIONS } from './options.ts';
import { noSuchSetting, readText, SETTING_NAMES } from './setting-texts.ts';

export type Written = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string };

/** The text with the setting; `value` null removes it, so that the default is in effect. */
export function writeSetting(text: string, name: string, value: string | null): Written {
  if (!isSettingName(name)) return { ok: false, why: noSuchSetting(name) };
  const wanted = value === null ? undefined : readText(name, value);
  const [misfit] = value === null ? [] : misfits(OPTIONS[name].schema, wanted);
  if (misfit !== undefined) return { ok: false, why: `${name}: ${misfit.message}` };
  const document = parseDocument(text);
  if (document.errors.length > 0)
    return { ok: false, why: `${SETTINGS_FILE} is not valid YAML: ${document.errors[0]!.message}` };
  const keys = name.split('.');
  if (value !== null) put(document, keys, wanted);
  else if (document.hasIn(keys)) document.deleteIn(keys);
  // Without it, long texts and lists would be folded.
  return { ok: true, text: document.toString({ lineWidth: 0 }) };
}

function put(document: Document.Parsed, keys: readonly string[], value: unknown): void {
  // A file of comments alone has no map; its comments are those of the document.
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  for (let depth = 1; depth < keys.length; depth += 1) {
    const section = keys.slice(0, depth);
    if (!isMap(document.getIn(section))) document.setIn(section, document.createNode({}));
  }
  document.setIn(keys, document.createNode(value));
}

const isSettingName = (name: string): name is SettingName => (SETTING_NAMES as readonly string[]).includes(name);
