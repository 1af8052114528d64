// The permissions of a spec on a real nats-server: subjects that the definition lets through never
// stop a server, and a list without subjects lets nobody do anything.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  configDigest,
  configText,
  natsConfig,
} from '../../../functions/nats-cluster/render/config.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import type { Rights } from '../../../shared/api/nats-cluster.ts';
import { cluster, CREDENTIALS } from '../../unit/nats-cluster/samples.ts';

const run = promisify(execFile);
const DEFINITION = new URL('../../../knative/crds/nats-cluster.yaml', import.meta.url);

let plane: Plane;
let dir: string;
let binary: string;

beforeAll(async () => {
  plane = await startPlane({ parts: [] });
  dir = await mkdtemp(join(tmpdir(), 'ballast-permissions-'));
  binary = await resolvePart('nats-server');
});

afterAll(async () => {
  await plane?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** The configuration of a single server whose only user has these permissions. */
async function configured(publish: Rights, subscribe: Rights): Promise<string> {
  const permissions = { publish, subscribe, allowResponses: false };
  const users = [{ name: 'shop', passwordSecret: { name: 's', key: 'k' }, permissions }];
  const own = cluster({
    spec: { replicas: 1, accounts: [{ name: 'SHOP', jetStream: false, users }] },
  });
  const credentials = { ...CREDENTIALS, passwords: new Map([['shop', 'shop']]) };
  const { jetstream: _, ...config } = natsConfig(own, credentials);
  const file = join(dir, 'nats.conf');
  await writeFile(file, configText({ ...config, http_port: 0, pid_file: join(dir, 'pid') }));
  return file;
}

const env = { POD_NAME: 'nats-0' };
const TRIED = ['a', '>', '*', 'a.*.>', 'é.$JS.API', ...MISTAKES()];

/** Subjects that people write, and some that they never would. */
function MISTAKES(): readonly string[] {
  const blanks = [' ', '\t', '\n', '\v', '\f', '\u0000', '\u0001', '\u0085', '\u00a0', '\u2028'];
  const apart = ['a b c', 'a..b', '.a', 'a.', 'a.>.b', 'a*', '*a', 'a>', 'a.>b', '', '.', '> > >'];
  return [...apart, ...blanks.map((blank) => `a${blank}b`)];
}

async function patternOf(kind: 'publish' | 'subscribe'): Promise<RegExp> {
  const text = await readFile(DEFINITION, 'utf8');
  const [, after = ''] = JSON.stringify(parse(text)).split(`"${kind}":{"description"`);
  const pattern = /"pattern":("(?:[^"\\]|\\.)*")/.exec(after)?.[1] ?? '""';
  return new RegExp(JSON.parse(pattern) as string, 'u');
}

test.each(['publish', 'subscribe'] as const)(
  'a subject to %s that stops a server does not pass the definition',
  async (kind) => {
    const pattern = await patternOf(kind);
    const passed = TRIED.filter((subject) => pattern.test(subject));
    expect(passed).toEqual([
      ...TRIED.slice(0, 5),
      // After one blank comes a queue group.
      ...(kind === 'subscribe' ? ['a b'] : []),
    ]);
    const [publish, subscribe] = [kind === 'publish' ? passed : ['a'], passed];
    const file = await configured({ allow: publish }, { allow: subscribe, deny: ['x'] });
    await run(binary, ['-t', '-c', file], { env });
  },
);

test('servers with accounts for a feed and its readers tell the digest we reckon', async () => {
  const reads = { feed: 'f', scope: 'Node', node: 'n.1' } as const;
  const accounts = [
    { name: 'FEEDS', jetStream: true, feeds: ['f'], users: [{ name: 'm', writes: ['f'] }] },
    { name: 'READERS', jetStream: false, users: [{ name: 'agent', reads }] },
  ];
  const config = natsConfig(cluster({ spec: { replicas: 1, accounts } }), CREDENTIALS);
  const file = join(dir, 'feeds.conf');
  await writeFile(file, configText(config));
  const { stderr, stdout } = await run(binary, ['-t', '-c', file], { env });
  expect(stderr + stdout).toContain(configDigest(config, 'nats-0'));
});

test('an empty list of what may be published lets nothing through a real server', async () => {
  const [port, file] = [await freePort(), await configured({ allow: [] }, { allow: [] })];
  await plane.add({
    name: 'nats of empty lists',
    command: binary,
    args: ['-c', file, `--addr=127.0.0.1`, `--port=${port}`],
    env,
    url: '',
    ready: async () =>
      connect({ port, user: 'shop', pass: 'shop', reconnect: false })
        .then((nats) => nats.close())
        .then(
          () => true,
          () => false,
        ),
  });
  const nats = await connect({ port, user: 'shop', pass: 'shop' });
  const refused = new Set<string>();
  nats.publish('orders.new');
  nats.subscribe('orders.*', { callback: () => undefined });
  for await (const { permissionContext } of nats.status()) {
    refused.add(permissionContext?.operation ?? '');
    if (refused.size === 2) break;
  }
  expect([...refused].toSorted()).toEqual(['publish', 'subscription']);
  await nats.close();
});
