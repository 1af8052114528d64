// Ways in which the only old object could vanish from an audit: by a prefix, by its key, by its
// group, by how its value is written. A value that cannot be judged is never clean.
import { describe, expect, test } from 'vitest';
import { auditStored } from '../../../shared/stored/audit.ts';
import type { StoredSource } from '../../../shared/stored/value.ts';

type Value = string | Buffer;
type Values = Readonly<Record<string, Value>>;

/** As a snapshot hands it over: of a long value the beginning alone is in memory. */
async function* sourceOf(values: Values): StoredSource {
  for (const [key, value] of Object.entries(values)) {
    const whole = Buffer.from(value);
    yield [{ key, head: whole.subarray(0, 4096), sizeBytes: whole.length, whole: () => whole }];
  }
}

const outcomeOf = async (values: Values, options = {}): Promise<string> => {
  const { outcome, findings } = await auditStored(sourceOf(values), options);
  expect([outcome === 'clean', findings]).toEqual([findings.length === 0, findings]);
  return outcome;
};

const GROUP = 'shop.example.com';
const object = (apiVersion: string, kind = 'Widget', more = {}): string =>
  JSON.stringify({ apiVersion, kind, metadata: {}, ...more });

const CRD_KEY = `/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.${GROUP}`;
const definition = (more = {}) => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  spec: {
    group: GROUP,
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      { name: 'v1alpha1', served: true, storage: false },
      { name: 'v1', served: true, storage: true },
    ],
  },
  status: { storedVersions: ['v1alpha1', 'v1'] },
  ...more,
});
const CRD = { [CRD_KEY]: JSON.stringify(definition()) };
const widgetKey = `/registry/${GROUP}/widgets/web/w0`;
const withWidget = (value: Value): Values => ({ ...CRD, [widgetKey]: value });
const old = object(`${GROUP}/v1alpha1`);
const current = object(`${GROUP}/v1`);

test('an object of the current version is clean', async () => {
  expect(await outcomeOf(withWidget(current))).toBe('clean');
  expect(await outcomeOf(withWidget(` \n${current}\r\n\t `))).toBe('clean');
});

describe('where the keys are', () => {
  const values = withWidget(old);

  test.each([
    ['the prefix of one group', `/registry/${GROUP}`],
    ['the prefix of one resource', `/registry/${GROUP}/widgets`],
    ['the prefix of one namespace', `/registry/${GROUP}/widgets/web`],
  ])('%s, with every object old', async (_, prefix) => {
    expect(await outcomeOf(values, { prefixes: [prefix] })).toBe('unknown');
    const resources = [{ group: GROUP, resource: 'widgets' }];
    expect(await outcomeOf(values, { prefixes: [prefix], resources })).toBe('unknown');
  });

  test('an API server that is aggregated, under a prefix within ours without a dot', async () => {
    const flunder = object('wardle.example.com/v1alpha1', 'Flunder');
    const aggregated = { '/registry/agg/wardle.example.com/flunders/web/f': flunder };
    expect(await outcomeOf({ ...CRD, ...aggregated })).toBe('unknown');
    const named = { '/registry/pods/wardle.example.com/flunders/web/f': flunder };
    expect(await outcomeOf({ ...CRD, ...named })).toBe('unknown');
  });

  test('a whole API server within ours, of which core objects alone are there', async () => {
    const within = { '/registry/blue/pods/web/a': object('v1', 'Pod') };
    expect(await outcomeOf({ ...CRD, ...within })).toBe('unknown');
  });

  test.each([`/registry//${GROUP}/widgets/web/w0`, `/registry/${GROUP}//w0`, `/registry/${GROUP}`])(
    'a key that names no resource: %s',
    async (key) => {
      expect(await outcomeOf({ ...CRD, [key]: old })).toBe('unknown');
    },
  );

  test('a group whose objects are encrypted, read as if they were Secrets', async () => {
    const hidden = { [`/registry/${GROUP}/secrets/web/s`]: 'k8s:enc:aescbc:v1:key1:xyz' };
    expect(await outcomeOf(hidden, { prefixes: [`/registry/${GROUP}`] })).toBe('unknown');
  });

  test('a letter of the prefix changed, in a file that has no hash', async () => {
    const astray = { ...CRD, [`/segistry/${GROUP}/widgets/web/w0`]: old };
    expect(await outcomeOf(astray, { isUnhashed: true })).toBe('unknown');
    expect(await outcomeOf({ ...CRD, compact_rev_key: '12' }, { isUnhashed: true })).toBe('clean');
  });
});

describe('the group in the value', () => {
  test.each(['v1', 'example.com/v1', 'other.example.com/v1'])(
    'is not that of the key: %s',
    async (apiVersion) => {
      expect(await outcomeOf(withWidget(object(apiVersion)))).not.toBe('clean');
    },
  );

  test.each([
    ['/registry/ingress/web/a', 'extensions/v1beta1', 'Ingress'],
    ['/registry/ingress/web/a', 'networking.k8s.io/v1beta1', 'Ingress'],
    ['/registry/deployments/web/a', 'extensions/v1beta1', 'Deployment'],
    ['/registry/deployments/web/a', 'v1', 'Deployment'],
    ['/registry/poddisruptionbudgets/web/a', 'policy/v1beta1', 'PodDisruptionBudget'],
    ['/registry/horizontalpodautoscalers/web/a', 'autoscaling/v1', 'HorizontalPodAutoscaler'],
    ['/registry/pods/web/a', 'example.com/v1', 'Pod'],
    ['/registry/podsecuritypolicy/a', 'policy/v1beta1', 'PodSecurityPolicy'],
    ['/registry/apiregistration.k8s.io/apiservices/a', 'example.com/v1', 'APIService'],
  ])('or the version is none that Kubernetes writes there: %s %s', async (key, version, kind) => {
    expect(await outcomeOf({ [key]: object(version, kind) })).toBe('unknown');
  });
});

describe('JSON', () => {
  const head = current.slice(0, -1);
  const long = object(`${GROUP}/v1`, 'Widget', { spec: { filler: 'x'.repeat(10_000) } });

  test.each([
    ['cut after its head', head],
    ['cut in its middle', long.slice(0, 6_000)],
    ['with junk after it', `${current}junk`],
    ['with junk far behind', `${long}}`],
    ['with another object after it', `${current}${old}`],
    ['with a null byte after it', `${current}\0`],
    ['with a second apiVersion', `${head},"apiVersion":"${GROUP}/v1alpha1"}`],
    ['with a second apiVersion far behind', `${long.slice(0, -1)},"apiVersion":"${GROUP}/v1"}`],
    ['with a second kind', `${head},"kind":"List"}`],
    // encoding/json of Go takes any of these for apiVersion, and the last one counts.
    ['with an apiversion in other letters', `${head},"APIVERSION":"${GROUP}/v1alpha1"}`],
    ['with a second apiVersion by escapes', `${head},"\\u0061piVersion":"${GROUP}/v1alpha1"}`],
    ['with an apiVersion by a long s', `${head},"apiVer\u017Fion":"${GROUP}/v1alpha1"}`],
    ['with a kind by a Kelvin sign', `${head},"\u212Aind":"List"}`],
    ['with a comma too many', `${head},}`],
    ['with a value missing', `${head},"a":}`],
    ['with a bare word', `${head},"a":tru}`],
    ['with a number that is none', `${head},"a":01}`],
    ['with a line break in a text', `${head},"a":"\n"}`],
    ['with an escape that is none', `${head},"a":"\\x"}`],
    ['with brackets that do not match', `${head},"a":[1}]`],
    ['with a key that is no text', `${head},1:1}`],
    ['that nests deeper than any decoder goes', `${head},"a":${'['.repeat(20_000)}`],
    ['after a byte order mark', `\uFEFF${current}`],
    ['after a blank that JSON has not', `\u00A0${current}`],
    ['in a list', `[${current}]`],
    ['whose apiVersion is within alone', `{"kind":"Widget","metadata":${current}}`],
    ['whose apiVersion is no text', `{"kind":"Widget","apiVersion":["${GROUP}/v1"]}`],
  ])('%s', async (_, value) => {
    expect(await outcomeOf(withWidget(value))).toBe('unknown');
  });
});

describe('protobuf', () => {
  const field = (number: number, bytes: Buffer): Buffer => {
    const length = [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
  };
  const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));
  const type = (version: string): Buffer =>
    field(1, Buffer.concat([text(1, version), text(2, 'Deployment')]));
  const raw = field(2, Buffer.alloc(9_000, 7));
  const rest = Buffer.concat([text(3, ''), text(4, '')]);
  const value = (...parts: readonly Buffer[]): Values => ({
    '/registry/deployments/web/a': Buffer.concat([Buffer.from('k8s\0'), ...parts]),
  });
  const now = type('apps/v1');

  test('that is whole is clean', async () => {
    expect(await outcomeOf(value(now, raw, rest))).toBe('clean');
    expect(await outcomeOf(value(now, raw))).toBe('clean');
  });

  test.each([
    ['of another group', [type('extensions/v1beta1'), raw, rest]],
    ['cut after its type', [now]],
    ['cut in its object', [now, raw.subarray(0, 5_000)]],
    ['cut in what follows', [now, raw, rest.subarray(0, -1)]],
    ['with two types', [now, type('extensions/v1beta1'), raw, rest]],
    ['with a second type behind', [now, raw, type('extensions/v1beta1')]],
    ['with two objects', [now, raw, raw]],
    [
      'with two versions in its type',
      [field(1, Buffer.concat([text(1, 'a/v1'), text(1, 'apps/v1'), text(2, 'D')])), raw],
    ],
    ['with a byte too many', [now, raw, rest, Buffer.of(0)]],
    ['with a field that it has not', [now, raw, text(5, 'x')]],
  ])('%s', async (_, parts) => {
    expect(await outcomeOf(value(...parts))).toBe('unknown');
  });
});

describe('CBOR', () => {
  const text = (value: string): Buffer =>
    Buffer.concat([Buffer.of(0x78, value.length), Buffer.from(value)]);
  const pair = (key: string, value: string): Buffer => Buffer.concat([text(key), text(value)]);
  const map = (...pairs: readonly Buffer[]): Buffer =>
    Buffer.concat([Buffer.from('d9d9f7', 'hex'), Buffer.of(0xa0 + pairs.length), ...pairs]);
  const kind = pair('kind', 'Widget');
  const version = pair('apiVersion', `${GROUP}/v1`);

  test('that is whole is clean', async () => {
    expect(await outcomeOf(withWidget(map(kind, version)))).toBe('clean');
  });

  test.each([
    ['with a second apiVersion', map(pair('apiVersion', `${GROUP}/v1alpha1`), kind, version)],
    ['with an apiversion in other letters', map(kind, version, pair('APIVersion', 'a/v1'))],
    ['with a byte too many', Buffer.concat([map(kind, version), Buffer.of(0)])],
    ['cut off', map(kind, version).subarray(0, -1)],
    ['with a text that is no UTF-8', map(kind, version, Buffer.from('614161ff', 'hex'))],
  ])('%s', async (_, value) => {
    expect(await outcomeOf(withWidget(value))).toBe('unknown');
  });
});

describe('a definition', () => {
  const spec = definition().spec;
  const twice = JSON.stringify(definition()).replace(
    '"name":"v1alpha1","served":true,"storage":false',
    '"name":"v1alpha1","served":true,"storage":true,"storage":false',
  );
  const versions = (...storage: readonly boolean[]) =>
    spec.versions.map((one, index) => ({ ...one, storage: storage[index] }));

  test.each([
    ['that says twice which version is stored', twice],
    ['with two stored versions', definition({ spec: { ...spec, versions: versions(true, true) } })],
    ['with none', definition({ spec: { ...spec, versions: versions(false, false) } })],
    ['of another kind', definition({ kind: 'ConfigMap' })],
    ['in another group', definition({ apiVersion: 'example.com/v1' })],
    ['under the name of another', definition({ spec: { ...spec, names: { plural: 'gadgets' } } })],
  ])('%s gives no verdict', async (_, value) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    expect(await outcomeOf({ [CRD_KEY]: text, [widgetKey]: current })).toBe('unknown');
  });
});
