// A cluster of the model with logins: what its spec may say, and the Secrets around it.
import { dataOf } from '../../../../shared/stateful/certificates/secret-data.ts';
import { SECRETS } from '../../../../shared/stateful/parts.ts';
import { NAME, NAMESPACE } from './etcd-model.ts';
import { type Edit, Run } from './run.ts';

export const role = (name: string, access = 'Read') => ({
  name,
  permissions: [{ prefix: `/${name}/`, access }],
});

export const user = (name: string, more: object = {}) => ({
  name,
  login: 'Password',
  roles: ['orders'],
  ...more,
});

const GIVEN = { name: 'given', key: 'password' };
export const givenTo = (name: string, more: object = {}) =>
  user(name, { passwordSecret: GIVEN, ...more });

export const ONE: Edit = { auth: { users: [givenTo('orders')], roles: [role('orders')] } };

export function give(run: Run, password: string, name = GIVEN.name): void {
  const metadata = { namespace: NAMESPACE, name };
  const data = { password: Buffer.from(password).toString('base64') };
  run.model.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
}

export function passwordIn({ model }: Run, name: string): string | undefined {
  const secret = model.kube.objects.get(`secrets/${NAMESPACE}/${name}`);
  return secret === undefined ? undefined : dataOf(secret)['password'];
}

export const secretOf = (name: string): string =>
  name === 'orders' ? GIVEN.name : `${NAME}-user-${name}`;

/** After each of these edits in turn. */
export async function prepared(before: readonly Edit[]): Promise<Run> {
  const run = new Run();
  give(run, 'of-before');
  for (const edit of before) {
    run.edit(edit);
    await run.converge();
  }
  return run;
}

/** Long enough that whatever was to be done is. */
export async function sweeps(run: Run, times = 20): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await run.sweep();
    await run.sweepPeers();
    run.model.tick();
  }
}
