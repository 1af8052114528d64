// Logins turned on, changed and turned off, with a process dying at each single write of it, before
// and after the write is done. The model throws when the function would be locked out, and when a
// user that a person made is deleted.
import { describe, expect, test } from 'vitest';
import { allUnder } from '../../../shared/etcd/admin/roles.ts';
import { Passed } from '../stateful/passed.ts';
import { givenTo, ONE, passwordIn, prepared, role, secretOf, user } from './model/logins.ts';
import type { Edit, Run } from './model/run.ts';

const MANY_RUNS_MS = 120_000;

const TWO: Edit = {
  auth: {
    users: [givenTo('orders', { roles: ['log'] }), user('made')],
    roles: [role('orders', 'ReadWrite'), role('log', 'Write')],
  },
};
const BY_NAME: Edit = {
  auth: { users: [user('orders', { login: 'Certificate' })], roles: [role('orders')] },
};
/** Edits are merged into what is there. */
const ROOT_ALONE: Edit = { auth: { users: undefined, roles: undefined } };
const OFF: Edit = { auth: undefined };
const size = (replicas: number): Edit => ({ replicas });

interface Change {
  readonly name: string;
  readonly before: readonly Edit[];
  readonly edit: Edit;
}

const CHANGES: readonly Change[] = [
  { name: 'logins from the first day', before: [], edit: { ...size(1), ...ONE } },
  { name: 'logins are turned on', before: [size(1)], edit: ONE },
  { name: 'users and roles change', before: [size(1), ONE], edit: TWO },
  { name: 'users and roles go', before: [size(1), TWO], edit: ONE },
  { name: 'a password becomes a certificate', before: [size(1), ONE], edit: BY_NAME },
  { name: 'root alone', before: [size(1), ONE], edit: ROOT_ALONE },
  { name: 'logins are turned off', before: [size(1), TWO], edit: OFF },
  { name: 'members join under logins', before: [size(1), ONE], edit: size(3) },
];

/** Etcd has what the spec says, and nothing else. */
function expectAsWanted(run: Run, edit: Edit): void {
  const { auth } = run.model;
  const wanted = edit['auth'] as
    | undefined
    | {
        readonly users?: readonly ReturnType<typeof user>[];
        readonly roles?: readonly ReturnType<typeof role>[];
      };
  const { users = [], roles = [] } = wanted ?? {};
  const root = wanted === undefined ? [] : ['root'];
  expect(auth.isEnabled).toBe(wanted !== undefined);
  expect([...auth.users.keys()].toSorted()).toEqual(
    [...root, ...users.map(({ name }) => name)].toSorted(),
  );
  for (const { name, login, roles: held } of users) {
    const password = login === 'Password' ? passwordIn(run, secretOf(name)) : undefined;
    expect(auth.users.get(name)).toEqual({ password, roles: held });
  }
  const types = { Read: 'READ', Write: 'WRITE', ReadWrite: 'READWRITE' };
  const permissions = roles.map(({ name, permissions: [{ access } = { access: '' }] }) => [
    name,
    [{ type: Object(types)[access], ...allUnder(`/${name}/`) }],
  ]);
  expect(Object.fromEntries(auth.roles)).toEqual(Object.fromEntries(permissions));
}

const authIn = ({ before, edit }: Change): Edit =>
  [...before, edit].findLast((one) => 'auth' in one) ?? OFF;

describe.each(CHANGES)('$name', (change) => {
  test(
    'a crash at any write, before or after it, changes nothing in the end',
    async () => {
      const run = await prepared(change.before);
      run.edit(change.edit);
      const passed = new Passed();
      const left = await run.deathsIn(() => passed.note(run, () => run.converge()));
      expect(left.length).toBeGreaterThan(3);
      const expectEnd = async (one: Run): Promise<void> => {
        expectAsWanted(one, authIn(change));
        const writes = one.writes.length;
        await one.sweep();
        await one.sweepPeers();
        expect(one.writes.slice(writes)).toEqual([]);
      };
      await expectEnd(run);
      await passed.each(left, async (one) => {
        await one.converge();
        await expectEnd(one);
      });
    },
    MANY_RUNS_MS,
  );
});
