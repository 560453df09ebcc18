// Which account a name means: two that look alike are one.

/** Invisible characters, some of which count as letters. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * What account names are compared by: compatible forms made one (NFKC), letters without their case, and nothing that can't
 * be seen. Names of different scripts stay different. The database stores the result: a change needs a migration.
 */
export function accountOf(name: string): string {
  const plain = name.normalize('NFKC').replace(INVISIBLE, '');
  // By small letters, then capitals, then small ones: ẞ and ß, ß and SS, ς and σ, ı and i are one to some of them only.
  return plain.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}
