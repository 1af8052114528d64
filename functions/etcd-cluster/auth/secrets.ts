// The Secrets with passwords of users of etcd. Root's has no owner: the data outlives the
// EtcdCluster, and asks for this password when it is made again. Nobody can edit it, since etcd is
// told of another password only by whoever knows the present one.
import { ETCD_CLUSTER_LABEL } from '../../../shared/api/etcd-cluster.ts';
import type { EtcdUser } from '../../../shared/api/etcd-auth.ts';
import type { EtcdLogin } from '../../../shared/etcd/admin/caller.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import {
  dataOf,
  encoded,
  newPassword,
  newSecret,
  readData,
  readOwn,
  type SecretData,
  type SecretsDeps,
  type SecretToMake,
} from '../../../shared/stateful/certificates/secret-data.ts';
import { nameTaken, SECRETS } from '../../../shared/stateful/parts.ts';
import { type Cluster, labelsOf } from '../cluster.ts';
import { ownerOf } from '../owner.ts';
import { type AuthParts, ROOT, secretOf, userSecret } from './state.ts';

export const ROOT_SUFFIX = '-root';
const PASSWORD = 'password';
/** bcrypt reads no more. */
const PASSWORD_BYTES_MAX = 72;

export interface AuthRead {
  readonly auth?: AuthParts;
  readonly toMake?: SecretToMake;
}

/** `named`: the common name of the certificate with which the function asks. */
export async function readAuth(
  deps: SecretsDeps,
  cluster: Cluster,
  named: string | undefined,
): Promise<AuthRead> {
  const { spec, status } = cluster;
  const { root, ...rest } = await readRoot(deps, cluster);
  const isConcerned = spec.auth !== undefined || status.auth !== undefined;
  if (!isConcerned && root === undefined) return {};
  const none = { root, passwords: new Map<string, string>() };
  if (rest.toMake !== undefined) return { toMake: rest.toMake };
  if (rest.lacking !== undefined) return { auth: { ...none, lacking: rest.lacking } };
  if (spec.auth === undefined) return { auth: { ...none, lacking: undefined } };
  if (named !== undefined) return { auth: { ...none, lacking: certificateNamed(named) } };
  return readUsers(deps, cluster, root);
}

interface RootRead {
  readonly root?: EtcdLogin;
  readonly toMake?: SecretToMake;
  readonly lacking?: Reason;
}

async function readRoot(deps: SecretsDeps, cluster: Cluster): Promise<RootRead> {
  const { namespace, name, spec, status } = cluster;
  const target = { namespace, name: `${name}${ROOT_SUFFIX}` };
  const secret = await deps.kube.get(SECRETS, target, { signal: deps.signal });
  const kept = deps.kept?.get(ROOT_SUFFIX);
  if (secret !== null) {
    const isOurs = secret.metadata.labels?.[ETCD_CLUSTER_LABEL] === name;
    if (!isOurs) return spec.auth === undefined ? {} : { lacking: nameTaken(secret) };
    const data = dataOf(secret);
    const password = data[PASSWORD] ?? '';
    if (password === '') return { lacking: noPassword(ROOT, target.name, PASSWORD) };
    deps.kept?.set(ROOT_SUFFIX, data);
    return { root: { user: ROOT, password } };
  }
  if (spec.auth === undefined && status.auth === undefined) return {};
  if (kept === undefined && status.auth?.phase === 'Ending') return {};
  // etcd may know a password by now, and another one would not be it.
  if (kept === undefined && status.auth?.phase === 'On') return { lacking: rootLost(cluster) };
  return { toMake: newRoot(cluster, kept) };
}

function newRoot({ namespace, name }: Cluster, kept: SecretData | undefined): SecretToMake {
  const data = kept ?? { username: ROOT, [PASSWORD]: newPassword() };
  const manifest = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}${ROOT_SUFFIX}`, namespace, labels: labelsOf({ name }) },
    type: 'Opaque',
    immutable: true,
    data: encoded(data),
  };
  return { why: 'Create', ref: SECRETS, manifest };
}

async function readUsers(
  deps: SecretsDeps,
  cluster: Cluster,
  root: EtcdLogin | undefined,
): Promise<AuthRead> {
  const passwords = new Map<string, string>();
  const none = { root, passwords };
  const given = new Map<string, SecretData | undefined>();
  // There may be many, and each look would compare them all: a change is seen a little later.
  const { versions: _versions, ...own } = deps;
  for (const user of cluster.spec.auth?.users ?? []) {
    if (user.login === 'Certificate') continue;
    const { password, toMake, lacking } = await readUser(own, cluster, user, given);
    // Members are asked meanwhile.
    if (toMake !== undefined) return { auth: { ...none, lacking: undefined }, toMake };
    if (password === undefined) return { auth: { ...none, lacking } };
    if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX) {
      return { auth: { ...none, lacking: tooLong(user, secretOf(cluster.name, user) ?? '') } };
    }
    passwords.set(user.name, password);
  }
  return { auth: { ...none, lacking: undefined } };
}

interface UserRead {
  readonly password?: string;
  readonly toMake?: SecretToMake;
  readonly lacking?: Reason;
}

async function readUser(
  deps: SecretsDeps,
  cluster: Cluster,
  { name, passwordSecret }: EtcdUser,
  given: Map<string, SecretData | undefined>,
): Promise<UserRead> {
  if (passwordSecret === undefined) return readMadeUser(deps, cluster, name);
  const { name: secret, key } = passwordSecret;
  if (!given.has(secret)) given.set(secret, await readData(deps, cluster, secret));
  const password = given.get(secret)?.[key] ?? '';
  return password === '' ? { lacking: noPassword(name, secret, key) } : { password };
}

async function readMadeUser(deps: SecretsDeps, cluster: Cluster, user: string): Promise<UserRead> {
  const suffix = userSecret('', user);
  const { own, lacking } = await readOwn(deps, cluster, suffix);
  if (lacking !== undefined) return { lacking };
  if (own === undefined) {
    const data = { username: user, [PASSWORD]: newPassword() };
    return { toMake: newSecret(ownerOf(cluster), suffix, data) };
  }
  const password = own.data[PASSWORD] ?? '';
  if (password !== '') return { password };
  return { lacking: noPassword(user, userSecret(cluster.name, user), PASSWORD) };
}

const noPassword = (user: string, secret: string, key: string): Reason => ({
  reason: 'PasswordMissing',
  message: `User ${user} has no password: Secret ${secret} has no key ${key}; create it.`,
});

const tooLong = ({ name }: EtcdUser, secret: string): Reason => ({
  reason: 'PasswordUnfit',
  message:
    `The password of user ${name} in Secret ${secret} is longer than the ${PASSWORD_BYTES_MAX} ` +
    'bytes that etcd takes; write a shorter one.',
});

const rootLost = ({ name }: Cluster): Reason => ({
  reason: 'RootPasswordLost',
  message:
    `Secret ${name}${ROOT_SUFFIX} is gone, and with it the password by which members are asked: ` +
    `make it again with the label ${ETCD_CLUSTER_LABEL}: ${name}, and with the password of ` +
    `before under ${PASSWORD}. Users go on as they are, and nothing is changed meanwhile.`,
});

/** etcd's gateway refuses such clients once it asks for logins. */
const certificateNamed = (name: string): Reason => ({
  reason: 'CertificateNamed',
  message:
    `The certificate in the Secret that spec.tls.clients names has the common name ${name}. ` +
    'Etcd takes that for a user, and answers us no more once it asks for logins: issue it ' +
    'without one, ' +
    'since the names of hosts stand in it besides.',
});

/** As long as etcd asks for logins the members keep what they have. */
export const refusedCertificate = (
  { status }: Cluster,
  named: string | undefined,
): Reason | undefined =>
  named !== undefined && status.auth?.phase === 'On' ? certificateNamed(named) : undefined;
