// What is secret of a program's variables and arguments, though no definition marks it (decision 15).
import { isSecretName } from './blot.ts';
import { passwordsIn } from './redact.ts';

/** A name of a variable, header or parameter whose value is a secret. */
const SECRET_NAME = /auth|cookie|credential|key|pass|secret|signature|token|_(?:pat|pwd)$/i;
/** Options that name a place of a secret, not one. */
const PLACE_NAME = /(?:file|path|dir|folder|url)$/i;
const OPTION = /^-{1,2}([A-Za-z][\w.-]*)(?:=(.*))?$/s;

/** The values whose names say that they are secret, and of others the passwords in addresses. */
export function secretsAmong(values: Iterable<readonly [name: string, value: string]>): string[] {
  return [...values].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : passwordsIn(value)));
}

/** What follows an option with the name of a secret, `--token x` or `--token=x`, and the passwords in addresses. */
export function secretsInArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const [, option = '', value] = OPTION.exec(arg) ?? [];
    const isSecret = isSecretName(option) && !PLACE_NAME.test(option);
    const given = value ?? args[index + 1];
    return [...(isSecret && given !== undefined ? [given] : []), ...passwordsIn(arg)];
  });
}
