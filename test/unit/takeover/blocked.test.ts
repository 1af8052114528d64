// Advice where somebody changed the Service of the clients meanwhile.
import { expect, test } from 'vitest';
import { serviceChanged } from '../../../functions/takeover/blocked.ts';
import { withoutWayBack } from '../../../functions/takeover/way-back.ts';
import type { TakeoverWork } from '../../../shared/api/takeover.ts';
import type { FoundService } from '../../../functions/takeover/state.ts';

const service = { name: 'old', uid: 'u', selector: 'a=b' };
const WORK: TakeoverWork = {
  plan: 'old-0',
  legacyUid: 'u',
  into: '',
  attempt: 1,
  operators: [],
  claims: [],
  service,
};

test.each([service as unknown as FoundService, undefined])(
  'a rollback is offered only as long as there is a way back (%#)',
  (found) => {
    const told = (work: TakeoverWork) => serviceChanged({ work }, found, 'where').message;
    expect(told(WORK)).toContain('spec.rollback: true');
    expect(told(withoutWayBack(WORK, 0))).not.toContain('spec.rollback');
  },
);
