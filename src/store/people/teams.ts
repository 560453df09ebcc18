// Rows of teams (people, not agents).
import { ErrandError, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { Team } from '../../domain/people/user.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { setTeamBudgetIn } from '../budgets/team-budget.ts';
import type { BudgetKit } from '../budgets/budget-kit.ts';
import { SELECT_TEAM } from '../rows.ts';

export type TeamChanges = Partial<Pick<Team, 'name' | 'budgetUsd'>>;

/** The verbs on teams. A `reference` is an id or a name. */
export function makeTeams(database: Database, kit: BudgetKit) {
  const { read } = database;
  const auditedWrite = makeAuditedWrite(database);
  const write: typeof auditedWrite = (...given) => auditedWrite(...given).finally(kit.inForce.changed);
  const byReference = `${SELECT_TEAM} WHERE ? IN (id, name) LIMIT 1`;
  const nameTaken = (name: string) => new ErrandError('conflict', `The team name ${name} is taken.`);
  return {
    /** Throws `conflict` when the name is taken. */
    create: (team: Pick<Team, 'name' | 'budgetUsd'>, note?: Note<Team>): Promise<Team> =>
      write(note, function* (tx) {
        if ((yield* tx.get('SELECT 1 FROM teams WHERE name = ?', team.name)) !== undefined) throw nameTaken(team.name);
        const id = newId(tx.now);
        yield* tx.run(
          'INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, ?, ?)',
          id,
          team.name,
          tx.now,
          tx.now,
        );
        yield* setTeamBudgetIn(tx, kit, id, team.budgetUsd);
        return { id, ...team, createdAt: tx.now, updatedAt: tx.now };
      }),

    /** Throws `not_found`. */
    get: read(function* (tx: Reader, reference: string): Step<Team> {
      const row = yield* tx.get<Team>(byReference, reference);
      if (row === undefined) throw notFound('Team');
      return row;
    }),

    list: read(function* (tx: Reader): Step<{ items: Team[]; total: number }> {
      const items = yield* tx.all<Team>(`${SELECT_TEAM} ORDER BY name`);
      return { items, total: items.length };
    }),

    /** Throws `not_found`, and `conflict` when the new name is taken. */
    change: (reference: string, changes: TeamChanges, note?: Note<Team>): Promise<Team> =>
      write(note, function* (tx) {
        const row = yield* tx.get<Team>(byReference, reference);
        if (row === undefined) throw notFound('Team');
        const team = { ...row, ...changes, updatedAt: tx.now };
        if ((yield* tx.get('SELECT 1 FROM teams WHERE name = ? AND id <> ?', team.name, team.id)) !== undefined) {
          throw nameTaken(team.name);
        }
        yield* tx.run('UPDATE teams SET name = ?, updated_at = ? WHERE id = ?', team.name, tx.now, team.id);
        if (changes.budgetUsd !== undefined) yield* setTeamBudgetIn(tx, kit, team.id, changes.budgetUsd);
        return team;
      }),
  };
}
