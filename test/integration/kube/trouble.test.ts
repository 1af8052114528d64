// A client whose API server refuses, throttles, or loses an answer.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { writeKubeconfig } from '../../../knative/try/local/plane/kubeconfig.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type Fault, type Front, withFrontEach } from './front.ts';
import { configMap, configMaps, namespace, openTestKube, read } from './world.ts';

const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
const rbac = (resource: string) => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource,
});

let plane: PlaneAddress;
let admin: KubeClient;
let front: Front;
let kube: KubeClient;

withFrontEach((given) => {
  ({ plane, admin, front, kube } = given);
});

const tokenOf = async (name: string): Promise<string> => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  await admin.create(accounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace },
  });
  const target = { namespace, name, subresource: 'token' };
  const { status } = await admin.createSubresource(accounts, target, body);
  return (status as { token: string }).token;
};

/** A client with the rights of a service account, by a token file. */
const openAs = async (name: string, tokenFile: string): Promise<KubeClient> => {
  const path = join(plane.dir, `kubeconfig-${name}`);
  const server = plane.part('kube-apiserver').url;
  await writeKubeconfig(path, {
    server,
    ca: { path: plane.caPath },
    user: name,
    credential: { tokenFile },
  });
  return openTestKube(plane, path);
};

describe('rights', () => {
  test('the rule that a 403 names is the rule that allows it', async () => {
    const tokenFile = join(plane.dir, 'token-narrow');
    await writeFile(tokenFile, await tokenOf('narrow'));
    const narrow = await openAs('narrow', tokenFile);
    await admin.apply(configMaps, configMap('narrow'), { force: true });
    const list = () =>
      narrow.list(configMaps, { namespace, fieldSelector: 'metadata.name=narrow' });
    const refused = await list().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'KUBE_FORBIDDEN', object: 'configmaps default/narrow' });
    const { message } = refused as Error;
    expect(message).toContain('list configmaps default/narrow: 403');
    const rule = /needs the rule (\{.*\})/.exec(message)?.[1] ?? '';
    expect(rule).toBe(
      '{apiGroups: [""], resources: ["configmaps"], verbs: ["list"], resourceNames: ["narrow"]}',
    );
    await grant('narrow', rule);
    await expect
      .poll(() =>
        list().then(
          ({ items }) => items.length,
          () => 0,
        ),
      )
      .toBe(1);
    await narrow.close();
  });

  const grant = async (name: string, rule: string): Promise<void> => {
    const { parse } = await import('yaml');
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const metadata = { name, namespace };
    const force = { force: true };
    await admin.apply(
      rbac('roles'),
      { apiVersion, kind: 'Role', metadata, rules: [parse(rule)] },
      force,
    );
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    await admin.apply(
      rbac('rolebindings'),
      { apiVersion, kind: 'RoleBinding', metadata, subjects, roleRef },
      force,
    );
  };
});

describe('credentials', () => {
  const version = { method: 'GET', path: '/version', repeat: 'always' } as const;

  test('a token that was rotated is read again as soon as the old one is refused', async () => {
    const tokenFile = join(plane.dir, 'token-rotated');
    await writeFile(tokenFile, 'no-longer-valid');
    const rotated = await openAs('rotated', tokenFile);
    await expect(rotated.raw(version)).rejects.toMatchObject({ code: 'KUBE_UNAUTHORIZED' });
    // Once more with what was read again, and not a third time.
    expect(rotated.counts().get('get /version')).toBe(2);
    await writeFile(tokenFile, await tokenOf('rotated'));
    expect((await rotated.raw(version)).statusCode).toBe(200);
    expect(rotated.connectionsOpened).toBe(1);
    await rotated.close();
  });

  test('a server that another CA signed is refused at once, and nothing is sent', async () => {
    const path = join(plane.dir, 'kubeconfig-no-ca');
    const server = plane.part('kube-apiserver').url;
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user: { token: 'secret' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    await writeFile(path, stringify(config));
    const wary = openTestKube(plane, path);
    await expect(wary.raw(version)).rejects.toMatchObject({
      code: 'KUBE_UNAVAILABLE',
      message: expect.stringContaining('certificate'),
    });
    expect(wary.connectionsOpened).toBe(0);
    expect(wary.counts().get('get /version')).toBe(1);
    await wary.close();
  });
});

describe('throttling', () => {
  const get = () => kube.get(configMaps, { namespace, name: 'absent' });
  const any: Fault['meets'] = () => true;

  test('a 429 is obeyed: the call comes again after the time it names', async () => {
    front.faults.push({ meets: any, does: { answer: 429, retryAfterSeconds: 1 } });
    expect(await get()).toBeNull();
    const [first, second] = front.requests;
    expect(front.requests).toHaveLength(2);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  test("a wait beyond the caller's time is not begun: the refusal is told at once", async () => {
    front.faults.push({ meets: any, does: { answer: 429, retryAfterSeconds: 30 } });
    const call = kube.get(configMaps, { namespace, name: 'absent' }, { timeoutMs: 5_000 });
    await expect(call).rejects.toMatchObject({ code: 'KUBE_THROTTLED', retryAfterMs: 30_000 });
    expect(front.requests).toHaveLength(1);
  });

  test('a signal ends a wait with its own reason, before a shorter one is over', async () => {
    const reason = new Error('the caller went away');
    const caller = new AbortController();
    const ended: string[] = [];
    front.faults.push({ meets: any, does: { answer: 503, retryAfterSeconds: 20 } });
    const given = { namespace, name: 'absent' };
    const call = kube.get(configMaps, given, { signal: caller.signal }).catch((error: unknown) => {
      ended.push('given up');
      return error;
    });
    await expect.poll(() => front.requests.length).toBe(1);
    front.faults.push({ meets: any, does: { answer: 503, retryAfterSeconds: 2 } });
    const other = get().finally(() => ended.push('answered'));
    await expect.poll(() => front.requests.length).toBe(2);
    caller.abort(reason);
    expect(await call).toBe(reason);
    await other;
    expect(ended).toEqual(['given up', 'answered']);
  });
});

describe('an answer that is lost after the work was done', () => {
  const lose = (method: string): void => {
    front.faults.push({ meets: (each) => each === method, does: 'lose-answer' });
  };
  const sent = (method: string): number =>
    front.requests.filter(({ target }) => target.startsWith(method)).length;

  test('of a create with a generated name is not asked for again', async () => {
    lose('POST');
    const metadata = { generateName: 'generated-', namespace, labels: { made: 'once' } };
    const creation = kube.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await expect(creation).rejects.toMatchObject({ code: 'KUBE_UNAVAILABLE' });
    const { items } = await admin.list(configMaps, { namespace, labelSelector: 'made=once' });
    expect(items).toHaveLength(1);
    expect(sent('POST')).toBe(1);
  });

  test('of a create by name is found by the second attempt', async () => {
    lose('POST');
    const { object, isNew } = await kube.create(configMaps, configMap('by-name', { a: 'b' }));
    expect(isNew).toBe(false);
    expect(object).toEqual(await read(admin, configMaps, 'by-name'));
    expect(sent('POST')).toBe(2);
  });

  test('of an apply is the same apply again', async () => {
    lose('PATCH');
    const object = await kube.apply(configMaps, configMap('applied', { a: 'b' }), { force: false });
    expect(object).toEqual(await read(admin, configMaps, 'applied'));
    expect(sent('PATCH')).toBe(2);
  });

  test('of a JSON patch is not asked for again: it was done once', async () => {
    await admin.create(configMaps, configMap('patched', { a: 'b' }));
    lose('PATCH');
    const body = [{ op: 'move', from: '/data/a', path: '/data/c' }] as const;
    const patch = kube.patch(configMaps, { namespace, name: 'patched' }, { type: 'json', body });
    await expect(patch).rejects.toMatchObject({ code: 'KUBE_UNAVAILABLE' });
    expect((await read(admin, configMaps, 'patched'))['data']).toEqual({ c: 'b' });
    expect(sent('PATCH')).toBe(1);
  });

  test('of a merge patch is asked for again only with a resourceVersion', async () => {
    const { object } = await admin.create(configMaps, configMap('merged', { a: 'b' }));
    const { resourceVersion } = object.metadata;
    const merge = (metadata: object, a: string) => {
      const body = { metadata, data: { a } };
      return kube.patch(configMaps, { namespace, name: 'merged' }, { type: 'merge', body });
    };
    lose('PATCH');
    await expect(merge({ resourceVersion }, 'c')).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
    expect((await read(admin, configMaps, 'merged'))['data']).toEqual({ a: 'c' });
    expect(sent('PATCH')).toBe(2);
    lose('PATCH');
    await expect(merge({}, 'd')).rejects.toMatchObject({ code: 'KUBE_UNAVAILABLE' });
    expect((await read(admin, configMaps, 'merged'))['data']).toEqual({ a: 'd' });
    expect(sent('PATCH')).toBe(3);
  });

  test('of a delete with its uid is found done, without it is not repeated', async () => {
    const target = { namespace, name: 'deleted' };
    const { object } = await admin.create(configMaps, configMap('deleted'));
    lose('DELETE');
    expect(await kube.delete(configMaps, target, { uid: object.metadata.uid })).toBe('absent');
    await admin.create(configMaps, configMap('deleted'));
    lose('DELETE');
    const none = { precondition: 'none', because: 'the test made it' } as const;
    await expect(kube.delete(configMaps, target, none)).rejects.toMatchObject({
      code: 'KUBE_UNAVAILABLE',
    });
    expect(sent('DELETE')).toBe(3);
  });
});

test('an API server that is not there is said within the time that was given', async () => {
  const nowhere = openTestKube(plane, front.kubeconfigPath);
  await front.close();
  const call = nowhere.get(configMaps, { namespace, name: 'a' }, { timeoutMs: 1_500 });
  await expect(call).rejects.toMatchObject({ code: 'KUBE_UNAVAILABLE' });
  expect(nowhere.counts().get('get configmaps') ?? 0).toBeGreaterThan(2);
  await nowhere.close();
});
