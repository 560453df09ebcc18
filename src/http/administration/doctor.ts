// The handler of an examination, which ends when the client disconnects.
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { ExaminationWishWire } from '../../wire/doctor.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';
import { untilGone } from '../frame/until-gone.ts';
import { renderExamination } from './doctor-wire.ts';

/** Makes the handler. */
export function makeDoctorHandler(operations: Operations) {
  return async (exchange: Exchange<unknown, ExaminationWishWire>, caller: Administrator) => {
    const { egress, full } = exchange.body;
    const wish = { egress: egress ?? false, full: full ?? false };
    return ok(renderExamination(await operations.examine(caller, wish, untilGone(exchange))));
  };
}
