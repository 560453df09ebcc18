// What each session is set to, whatever the server, the database and the role have for others.

/** Limits of time, in milliseconds. A process that stands still in a transaction loses it before others give up waiting for it. */
const LIMITS = {
  statement_timeout: '60000',
  lock_timeout: '5000',
  idle_in_transaction_session_timeout: '4000',
  transaction_timeout: '0',
  idle_session_timeout: '0',
};

/** How values are written. */
const VALUES = { bytea_output: 'hex', extra_float_digits: '1', standard_conforming_strings: 'on' };

/** What a verb rests on. */
const TRANSACTIONS = { default_transaction_isolation: 'read committed', default_transaction_deferrable: 'off' };

/**
 * Plans that don't change with what tables happen to have: a list has an index that a statement was written for. Compiling a plan pays
 * for reports, which there are none of.
 */
const PLANS = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' };

/** Those of copies: long work, whose rows come by their keys as they are stored, rather than after all of them were sorted. */
const COPIES = {
  ...LIMITS,
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  enable_sort: 'off',
};

/** A query that sets them. Those that the server's version doesn't have are left out. */
function settingOf(settings: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  return `SELECT set_config(name, value, false) FROM (VALUES ${pairs.join(', ')}) AS own (name, value)
    WHERE current_setting(name, true) IS NOT NULL`;
}

export const SETTINGS = settingOf({ ...LIMITS, ...VALUES, ...TRANSACTIONS, ...PLANS });
export const SETTINGS_OF_COPIES = settingOf({ ...COPIES, ...VALUES, ...TRANSACTIONS });
