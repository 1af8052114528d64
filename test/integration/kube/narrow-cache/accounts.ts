// Service accounts with rights of their own, reached through a front of their own: for what the
// narrow cache does with few rights and with tokens that change.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeKubeconfig } from '../../../../knative/try/local/plane/kubeconfig.ts';
import type { PlaneAddress } from '../../../../knative/try/local/plane/address.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { namespace } from '../world.ts';

const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
const rbac = (resource: string) => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource,
});

export interface Account {
  readonly kubeconfigPath: string;
  token(): Promise<string>;
  /** Puts another token in the place of the last. */
  rotate(): Promise<void>;
}

export async function openAccount(
  plane: PlaneAddress,
  admin: KubeClient,
  name: string,
  server = plane.part('kube-apiserver').url,
): Promise<Account> {
  const metadata = { name, namespace };
  await admin.create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const newToken = async (): Promise<string> => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const target = { ...metadata, subresource: 'token' };
    const { status } = await admin.createSubresource(accounts, target, body);
    return (status as { token: string }).token;
  };
  const kubeconfigPath = join(plane.dir, `kubeconfig-${name}`);
  const tokenPath = join(plane.dir, `token-${name}`);
  const rotate = async (): Promise<void> => writeFile(tokenPath, await newToken());
  await rotate();
  const credential = { tokenFile: tokenPath };
  await writeKubeconfig(kubeconfigPath, {
    server,
    ca: { path: plane.caPath },
    user: name,
    credential,
  });
  return { kubeconfigPath, token: () => readFile(tokenPath, 'utf8'), rotate };
}

export async function grant(admin: KubeClient, name: string, rule: object): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name, namespace };
  const force = { force: true };
  await admin.apply(rbac('roles'), { apiVersion, kind: 'Role', metadata, rules: [rule] }, force);
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const binding = { apiVersion, kind: 'RoleBinding', metadata, subjects, roleRef };
  await admin.apply(rbac('rolebindings'), binding, force);
}
