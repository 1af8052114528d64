// Where NATS, etcd and the API server are of what runs here: the control plane of `npm start`, or
// the cluster of `npm run cluster`.
import { join } from 'node:path';
import { openKube } from '../../../../shared/kube/client.ts';
import { etcdSocket, findClusters, kubeconfigPath } from '../../cluster/cluster-directory.ts';
import { readPartsFile } from '../plane/parts-file.ts';
import { relay } from '../process/relay.ts';
import { livePlanes } from '../process/run-directory.ts';

/** The NATS that `npm run cluster` makes: its Service, and the Secret with the URL of a reader. */
const CLUSTER_NATS = {
  namespace: 'ballast-system',
  service: 'nats',
  secret: 'nats-user-watch',
} as const;
const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
const SECRETS = { group: '', version: 'v1', resource: 'secrets' } as const;

/** The url of a user who reads the feed. */
export async function natsUrlOfPlane(chosen: string | undefined): Promise<string> {
  const found = await runningHere(chosen);
  return found.isCluster
    ? natsUrlIn(kubeconfigPath(found.dir))
    : urlOfPart('nats-server', found, 'reader');
}

export async function etcdUrlOfPlane(chosen: string | undefined): Promise<string> {
  const found = await runningHere(chosen);
  if (!found.isCluster) return urlOfPart('etcd', found);
  // It serves inside of the cluster's network, on a loopback that this process does not share.
  const host = '127.0.0.1';
  const { port } = await relay({ host, port: 0 }, { path: etcdSocket(found.dir) });
  return `http://${host}:${port}`;
}

export async function kubeconfigOfPlane(chosen: string | undefined): Promise<string> {
  return kubeconfigPath((await runningHere(chosen)).dir);
}

interface Found {
  readonly dir: string;
  readonly isCluster: boolean;
}

/** With the login of this user, where the part knows users. */
async function urlOfPart(part: string, { dir }: Found, user = ''): Promise<string> {
  const parts = await readPartsFile(dir);
  const row = parts.find(({ name }) => name === part);
  const url = row?.urls?.[user] ?? row?.url;
  if (url === undefined) throw new Error(`the control plane in ${dir} has no ${part}`);
  return url;
}

/** Nobody here resolves names of Services: the address stands in for the name. */
async function natsUrlIn(kubeconfig: string): Promise<string> {
  const { namespace, service, secret } = CLUSTER_NATS;
  const kube = openKube({ kubeconfigPath: kubeconfig, userAgent: 'watch', fieldManager: 'watch' });
  try {
    const found = await Promise.all([
      kube.get(SECRETS, { namespace, name: secret }),
      kube.get(SERVICES, { namespace, name: service }),
    ]);
    const given = Buffer.from(textAt(found[0], 'data', 'url'), 'base64').toString();
    const address = textAt(found[1], 'spec', 'clusterIP');
    if (given === '' || address === '') {
      throw new Error(
        `the running cluster has no NATS yet: ${namespace} lacks Secret ${secret} or Service ` +
          `${service}; wait until its NatsCluster is ready, or name an address with --nats`,
      );
    }
    const url = new URL(given);
    url.hostname = address;
    return url.href;
  } finally {
    await kube.close();
  }
}

const textAt = (object: unknown, ...path: readonly string[]): string => {
  const step = (value: unknown, name: string): unknown =>
    typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  const found = path.reduce(step, object);
  return typeof found === 'string' ? found : '';
};

/** `chosen` is the directory of one; without it there must be just one. */
async function runningHere(chosen: string | undefined): Promise<Found> {
  const clusters = (await findClusters()).filter(({ isAlive }) => isAlive);
  const found = [
    ...(await livePlanes()).map((dir) => ({ dir, isCluster: false })),
    ...clusters.map(({ dir }) => ({ dir, isCluster: true })),
  ];
  if (chosen !== undefined) {
    const isSame = ({ dir }: Found): boolean => join(dir, '.') === join(chosen, '.');
    return found.find(isSame) ?? { dir: chosen, isCluster: false };
  }
  const [one, ...others] = found;
  if (one === undefined) {
    throw new Error(
      'no control plane runs here: start one with `npm start` or `npm run cluster`, ' +
        'or name its address',
    );
  }
  if (others.length === 0) return one;
  const list = found.map(({ dir }) => dir).join(', ');
  throw new Error(`several control planes run here; choose one with --plane: ${list}`);
}
