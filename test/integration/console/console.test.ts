// console as it runs: over HTTP and in a real browser, with the real API server, under its own
// account, and a feed that is written by hand.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consolePage } from '../../../functions/console/index.ts';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { EVENTS, NOT_DELIVERED } from '../../../shared/kube/not-delivered.ts';
import { LEASES } from '../../../shared/kube/sweep-lease.ts';
import { Browser } from '../../browser/browser.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const FEED = 'shown';
const EVIL = '<script>document.title="taken"</script><img src=x onerror=alert(1)>';
const build = { version: '0.0.0', commit: '' };

let kube: KubeClient;
let accounts: ServiceAccounts;
let feed: FeedWriter;
let environment: Record<string, string>;
let running: RunningFunction;
let browser: Browser;

beforeAll(async () => {
  const plane = sharedPlane();
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  const urlFor = async (_: string, server: string): Promise<string> => plane.part(server).url;
  accounts = new ServiceAccounts(kube, { ...plane, urlFor }, (error) => {
    throw error;
  });
  const { url, urls } = plane.part('nats-server');
  feed = await FeedWriter.open(url, FEED);
  await feed.create();
  await feed.mark({ ready: true });
  environment = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    DRAIN_MINIMUM_SECONDS: '0',
    FEED_NAME: FEED,
    NATS_URL: urls?.['console'] ?? '',
    KUBECONFIG: await accounts.kubeconfigFor('function/console', {
      namespace: 'ballast-system',
      name: 'console',
    }),
  };
  running = await startFunction(consolePage, { environment, build });
  browser = await Browser.open();
});

afterAll(async () => {
  await browser?.close();
  await running?.stop();
  accounts?.close();
  await feed?.close();
  await kube?.close();
});

const urlOf = (path: string, { port } = running): string => `http://127.0.0.1:${port}${path}`;
const pod = (name: string, node: string, ip: string) => {
  const key = { resource: 'pods', namespace: 'shop', name };
  return feed.put({ node }, key, { node, ips: [ip], ready: true, phase: 'Running' });
};

test('the page takes nothing from elsewhere, and is shown in no frame', async () => {
  const answer = await fetch(urlOf('/console'));
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/html; charset=utf-8',
  ]);
  const policy = answer.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  for (const path of ['/console', '/api/state', '/no-such-path']) {
    const { headers } = await fetch(urlOf(path));
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe(policy);
  }
});

test('it is only read: every other method is refused', async () => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const { status, headers } = await fetch(urlOf('/api/state'), { method });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  }
});

test.each(['?after=x', '?after=1&after=2', '?since=1'])('%s is refused', async (query) => {
  const answer = await fetch(urlOf(`/api/pods${query}`));
  const { code } = (await answer.json()) as { code?: string };
  expect([answer.status, code]).toEqual([400, 'QUERY_INVALID']);
});

test('without tokens it knows this machine alone, by its own names', async () => {
  const forwarded = await fetch(urlOf('/api/state'), {
    headers: { 'x-forwarded-for': '10.1.2.3' },
  });
  expect([forwarded.status, await codeOf(forwarded)]).toEqual([403, 'SENDER_ADDRESS_FORBIDDEN']);
  expect(await hostAsked('evil.example')).toBe(403);
  expect(await hostAsked(`localhost:${running.port}`)).toBe(200);
});

const codeOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as { code?: unknown }).code;

/** By node:http, since fetch does not let one say it. */
async function hostAsked(host: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(urlOf('/api/state'), { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .once('error', reject)
      .end();
  });
}

test('with tokens the page is open, and its answers are for accounts that are named', async () => {
  const guarded = await startFunction(consolePage, {
    environment: {
      ...environment,
      SENDER_AUDIENCE: 'ballast-system/console',
      SENDER_SUBJECTS: 'system:serviceaccount:ballast-system:dead-letters',
    },
    build,
  });
  try {
    const ask = async (path: string, account?: string): Promise<number> => {
      const authorization =
        account === undefined ? {} : { authorization: `Bearer ${await tokenOf(account)}` };
      return (await fetch(urlOf(path, guarded), { headers: authorization })).status;
    };
    expect(await ask('/console')).toBe(200);
    expect([await ask('/api/state'), await ask('/api/pods')]).toEqual([401, 401]);
    expect(await ask('/api/state', 'metadata')).toBe(403);
    expect(await ask('/api/state', 'dead-letters')).toBe(200);
  } finally {
    await guarded.stop();
  }
});

async function tokenOf(name: string): Promise<string> {
  const { status } = (await kube.createSubresource(
    { group: '', version: 'v1', resource: 'serviceaccounts' },
    { namespace: 'ballast-system', name, subresource: 'token' },
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: ['ballast-system/console'], expirationSeconds: 600 },
    },
  )) as { readonly status?: { readonly token?: string } };
  return status?.token ?? '';
}

test('a browser shows what runs where, and each change within a second', async () => {
  await feed.put({ node: 'n1' }, { resource: 'nodes', namespace: '', name: 'n1' });
  await pod('web-1', 'n1', '10.0.0.1');
  await pod('web-2', 'n2', '10.0.0.2');
  await browser.show(urlOf('/console#where'));
  await expect
    .poll(() => browser.text('#lines'))
    .toMatch(/n1\s+shop\/web-1\s[\s\S]*n2[\s\S]*web-2/);
  await pod('web-3', 'n1', '10.0.0.3');
  const seen = await browser.run(`new Promise((done) => {
    const from = performance.now();
    const look = () => document.querySelector('#lines').innerText.includes('web-3')
      ? done(performance.now() - from) : requestAnimationFrame(look);
    look();
  })`);
  expect(Number(seen)).toBeLessThan(1_000);
  const slice = { resource: 'endpointslices', namespace: 'shop', name: 'web-x7' } as const;
  const endpoints = ['web-1', 'web-3'].map((name) => ({ ips: [], pod: { name, uid: name } }));
  await feed.put({ node: 'n1' }, slice, { node: 'n1', service: 'storefront', endpoints });
  await expect.poll(() => browser.text('#lines')).toMatch(/shop\/web-1\s+storefront/);
  expect(browser.complaints).toEqual([]);
});

test('the keyboard searches by name, address and node, and Escape ends it', async () => {
  await browser.press('/');
  await browser.type('10.0.0.2');
  await expect.poll(() => browser.text('#count')).toBe('1 of 3 pods');
  expect(await browser.text('#lines')).not.toContain('web-1');
  await browser.press('Escape');
  await expect.poll(() => browser.text('#count')).toBe('3 of 3 pods');
  await browser.type('node:n1 web');
  await expect.poll(() => browser.text('#count')).toBe('2 of 3 pods');
  await browser.press('ArrowDown');
  await browser.press('ArrowDown');
  await expect.poll(() => browser.text('.chosen')).toContain('shop/web-1');
  await browser.press('Escape');
  // The second one leaves the search.
  await browser.press('Escape');
  await browser.press('1');
  await expect.poll(() => browser.run("document.querySelector('#where').hidden")).toBe(true);
});

test('what stands in objects is shown as it was written, and never runs', async () => {
  const object = { namespace: 'default', name: 'main' };
  await kube.create(NATS_CLUSTERS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'NatsCluster',
    metadata: object,
    spec: {},
  });
  const degraded = {
    type: 'Degraded',
    status: 'True',
    reason: 'Evil',
    message: EVIL,
    lastTransitionTime: new Date().toISOString(),
  };
  const body = { status: { conditions: [degraded], plan: { next: EVIL } } };
  await kube.patch(NATS_CLUSTERS, { ...object, subresource: 'status' }, { type: 'merge', body });
  await expect.poll(() => browser.text('#problems')).toContain(EVIL);
  expect(await browser.run("document.querySelectorAll('main script, main img').length")).toBe(0);
  expect(await browser.text('#objects')).toContain('default/main');
  expect(await browser.text('#objects')).not.toContain('and more');
  expect(await browser.run('document.title')).toMatch(/^\(\d+\) Ballast$/);
  expect(browser.complaints).toEqual([]);
});

test('what nobody looks at is unknown, and fine again once somebody does', async () => {
  await expect.poll(() => browser.text('#problems')).toContain('Nobody has looked at the 1');
  await kube.create(LEASES, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'ballast-system', name: 'ballast-nats-cluster' },
    spec: { renewTime: new Date().toISOString().replace('Z', '000Z'), leaseDurationSeconds: 180 },
  });
  await expect.poll(() => browser.text('#problems')).not.toContain('Nobody has looked at');
  const calm = {
    type: 'Degraded',
    status: 'False',
    reason: 'Fine',
    message: 'Well.',
    lastTransitionTime: new Date().toISOString(),
  };
  const ready = { ...calm, type: 'Ready', status: 'True' };
  const body = { status: { conditions: [calm, ready], plan: null } };
  const target = { namespace: 'default', name: 'main', subresource: 'status' };
  await kube.patch(NATS_CLUSTERS, target, { type: 'merge', body });
  await expect.poll(() => browser.text('#objects')).toMatch(/fine default\/main/);
});

test('what no function took is told, as the Events on the Broker have it', async () => {
  await kube.create(EVENTS, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: 'ballast-system', name: 'dead-letter.1' },
    eventTime: new Date().toISOString().replace('Z', '000Z'),
    type: 'Warning',
    reason: NOT_DELIVERED,
    reportingInstance: 'test',
    action: 'Deliver',
    reportingController: 'ballast.dev/dead-letters',
    regarding: { kind: 'Broker', namespace: 'ballast-system', name: 'ballast' },
    note: `The function metadata did not take ${EVIL}.`,
  });
  const told = `Broker ballast-system/ballast ${NOT_DELIVERED}`;
  await expect.poll(() => browser.text('#problems')).toContain(told);
  const says = `Once: The function metadata did not take ${EVIL}.`;
  expect(await browser.text('#problems')).toContain(says);
  expect(browser.complaints).toEqual([]);
});

test('a cut is told, nothing is called fine meanwhile, and it goes on by itself', async () => {
  const { port } = running;
  await running.stop();
  await expect.poll(() => browser.text('#verdict')).toBe('Unknown');
  await expect.poll(() => browser.text('#link')).toContain('does not answer');
  await pod('web-4', 'n1', '10.0.0.4');
  running = await startFunction(consolePage, {
    environment: { ...environment, PORT: String(port) },
    build,
  });
  await expect.poll(() => browser.text('#verdict')).not.toBe('Unknown');
  await browser.press('2');
  await expect.poll(() => browser.text('#lines')).toContain('web-4');
  await expect.poll(() => browser.text('#link')).toBe('');
});
