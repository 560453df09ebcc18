// The handler of what an import of users would change.
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { ImportPlan, WantedUser } from '../../operations/people/plan-import.ts';
import type { ImportPlanWire, UserImportWire, WantedUserWire } from '../../wire/people/user-import.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';

/** Makes the handler. */
export function makePlanImportHandler(operations: Pick<Operations, 'planImport'>) {
  return async ({ body: { users, key_name: keyName } }: Exchange<unknown, UserImportWire>, caller: Administrator) =>
    ok(renderPlan(users, await operations.planImport(caller, users.map(wantedOf), keyName ?? null)));
}

function wantedOf({ full_name: fullName, ...rest }: WantedUserWire): WantedUser {
  return { ...(fullName !== undefined && { fullName }), ...rest };
}

const inWire = <F extends string>(field: F) => (field === 'fullName' ? 'full_name' : (field as Exclude<F, 'fullName'>));

function renderPlan(wanted: readonly WantedUserWire[], { users, problems }: ImportPlan): ImportPlanWire {
  return {
    users: users.map(({ action, userId, fields, isDisabled, hasKey }, row) => ({
      username: wanted[row]!.username,
      action,
      user_id: userId,
      fields: fields.map(inWire),
      disabled: isDisabled,
      has_key: hasKey,
    })),
    problems: problems.map(({ row, field, message }) => ({ row, field: inWire(field), message })),
  };
}
