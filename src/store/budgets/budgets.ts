// Budgets as administrators set, list and remove them.
import { type Budget, type BudgetTerms, MOST_BUDGETS } from '../../domain/budgets/budget.ts';
import { ErrandError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import { type Reader, type Step, together, type Transaction } from '../engine/statement.ts';
import { conditions, readPage } from '../engine/lists.ts';
import { type BudgetRow, NAME_OF_SUBJECT, NAMED_BUDGETS, readSpent, termsOf } from './budget-rows.ts';
import { type Counted, makeCountPast, newestRecord, type PastUse, sumIn } from './past-usage.ts';
import type { BudgetKit } from './budget-kit.ts';
import { beginPeriod, warnAgainIn } from './settle.ts';

/** A budget to set. Of `payer`, what its subject names is given, and nothing for runs. */
export interface NewBudget extends BudgetTerms {
  readonly payer: PastUse['payer'];
}

/** Null means no filter. */
export interface BudgetFilter extends Page {
  readonly subject: BudgetTerms['subject'] | null;
  readonly payer: PastUse['payer'];
}

type NamedRow = BudgetRow & { subjectId: string | null; subjectName: string | null };

const SELECT = `SELECT b.*, coalesce(k.id, u.id, t.id) AS subject_id,
  ${NAME_OF_SUBJECT} AS subject_name FROM ${NAMED_BUDGETS}`;
/** The one budget of the same subject, unit and period. */
const SAME = `SELECT * FROM budgets WHERE subject = ? AND unit = ? AND period = ?
  AND key_seq IS NOT DISTINCT FROM ? AND user_seq IS NOT DISTINCT FROM ? AND team_id IS NOT DISTINCT FROM ?`;

/** The verbs. An id that is unknown gives undefined. */
export function makeBudgets(database: Database, kit: BudgetKit) {
  const { read } = database;
  const auditedWrite = makeAuditedWrite(database);
  const countPast = makeCountPast(database);
  const find = read(function* (tx: Reader, id: string, now: number): Step<Budget | undefined> {
    const show = showing(tx, kit, now);
    const row = yield* tx.get<NamedRow>(`${SELECT} WHERE b.id = ?`, id);
    return row && (yield* show(row));
  });

  /** Rejected or not: what is in force is asked anew after it. */
  async function changing<Result>(change: Promise<Result>): Promise<Result> {
    try {
      return await change;
    } finally {
      kit.inForce.changed();
    }
  }

  return {
    find,

    /** Budgets, the newest first, and their total number. */
    list: read(function* (tx: Reader, filter: BudgetFilter, now: number): Step<Listing<Budget>> {
      const { keySeq, userSeq, teamId } = filter.payer;
      const by = {
        'b.subject = ?': filter.subject,
        'b.key_seq = ?': keySeq,
        'b.user_seq = ?': userSeq,
        'b.team_id = ?': teamId,
      };
      const query = { from: NAMED_BUDGETS, select: SELECT, order: 'b.seq DESC', ...conditions(['b.seq > 0'], by) };
      const show = showing(tx, kit, now);
      const { items: rows, total } = yield* readPage<NamedRow>(tx, query, filter);
      return { items: yield* together(rows.map(show)), total };
    }),

    /**
     * Sets the budget of a subject for a unit and a period, in place of the one it had. What was used in the current period
     * counts, whenever that was. Throws `conflict` when there are too many.
     */
    set: async (wanted: NewBudget, now: () => number, note?: Note<Budget>): Promise<Budget> => {
      let past: Past | undefined;
      for (;;) {
        const set = await changing(auditedWrite(note && whenSet(note), (tx) => setIn(tx, kit, wanted, past)));
        if (set !== undefined) return set;
        const { startsAt } = kit.periodOf(wanted, now());
        past = { startsAt, ...(await countPast({ payer: wanted.payer, since: startsAt })) };
      }
    },

    /** Removes a budget, and what was counted for it. Returns it as it was. */
    remove: (id: string, note?: Note<Budget | undefined>): Promise<Budget | undefined> =>
      changing(
        auditedWrite(note, function* (tx) {
          const row = yield* tx.get<NamedRow>(`${SELECT} WHERE b.id = ?`, id);
          if (row === undefined) return undefined;
          const removed = yield* showing(tx, kit, tx.now)(row);
          yield* tx.run('DELETE FROM budgets WHERE seq = ?', row.seq);
          return removed;
        }),
      ),
  };
}

/** What was counted for a period. */
interface Past extends Counted {
  readonly startsAt: number;
}

/** Nothing is recorded of an attempt to set that has to count first. */
function whenSet(note: Note<Budget>): Note<Budget | undefined> {
  return { ...note, entryOf: (result) => (result === undefined ? undefined : note.entryOf(result)) };
}

/** Returns undefined when the past of the current period has to be counted before. */
function* setIn(tx: Transaction, kit: BudgetKit, wanted: NewBudget, past: Past | undefined): Step<Budget | undefined> {
  const { subject, unit, period, timeZone, limit, payer } = wanted;
  const ids = [payer.keySeq, payer.userSeq, payer.teamId] as const;
  const same = yield* tx.get<BudgetRow>(SAME, subject, unit, period, ...ids);
  const { startsAt } = kit.periodOf(wanted, tx.now);
  const isCounted = subject === 'run' || same?.timezone === timeZone;
  if (!isCounted && past?.startsAt !== startsAt) return undefined;
  kit.inForce.begun();
  const seq = same === undefined ? yield* insertIn(tx, wanted) : yield* change(tx, same.seq, wanted);
  if (!isCounted) {
    // Calls that were recorded while the others were counted.
    const rest = yield* sumIn(tx, { payer, since: startsAt, above: past!.upTo, upTo: yield* newestRecord(tx) });
    yield* tx.run('DELETE FROM budget_periods WHERE budget_seq = ?', seq);
    yield* beginPeriod(tx, { budgetSeq: seq, startsAt, spent: past![unit] + rest[unit] });
  }
  yield* warnAgainIn(tx, { budgetSeq: seq, startsAt, limit });
  return yield* showing(tx, kit, tx.now)((yield* tx.get<NamedRow>(`${SELECT} WHERE b.seq = ?`, seq))!);
}

/** Inserts one that does not exist. */
export function* insertIn(tx: Transaction, { subject, payer, unit, period, timeZone, limit }: NewBudget): Step<number> {
  const { budgets } = (yield* tx.get<{ budgets: number }>('SELECT count(*) AS budgets FROM budgets'))!;
  if (budgets >= MOST_BUDGETS)
    throw new ErrandError('conflict', `There are ${MOST_BUDGETS} budgets, the most there may be.`);
  return yield* tx.insert(
    `INSERT INTO budgets (id, subject, key_seq, user_seq, team_id, unit, period, timezone, amount, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    newId(tx.now),
    subject,
    payer.keySeq,
    payer.userSeq,
    payer.teamId,
    unit,
    period,
    timeZone,
    limit,
    tx.now,
    tx.now,
  );
}

function* change(tx: Transaction, seq: number, { timeZone, limit }: BudgetTerms): Step<number> {
  const sql = 'UPDATE budgets SET timezone = ?, amount = ?, updated_at = ? WHERE seq = ?';
  yield* tx.run(sql, timeZone, limit, tx.now, seq);
  return seq;
}

/** Renders budgets, with what is used and held of them. Ask for it before they are read. */
function showing(tx: Reader, { periodOf, held }: BudgetKit, now: number) {
  const readReserved = held.look();
  return function* toBudget(row: NamedRow): Step<Budget> {
    const { startsAt, endsAt } = periodOf(termsOf(row), now);
    const used = row.subject === 'run' ? [] : [readSpent(tx, row.seq, startsAt), readReserved(tx, row)];
    const [spent = 0, reserved = 0] = yield* together(used);
    return {
      seq: row.seq,
      id: row.id,
      subject: row.subject,
      unit: row.unit,
      period: row.period,
      timeZone: row.timezone,
      limit: row.amount,
      subjectId: row.subjectId,
      subjectName: row.subjectName,
      spent,
      reserved,
      startsAt: endsAt === null ? null : startsAt,
      renewsAt: endsAt,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    };
  };
}
