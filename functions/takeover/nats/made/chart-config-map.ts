// Reads what the servers of a chart were told from their ConfigMap, and passwords that stand there
// as variables from where the StatefulSet has these. The right to each is granted by its name.
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { textOf } from '../../../../shared/kube/json.ts';
import { isSame } from '../../../../shared/hash.ts';
import { fieldOf } from '../../legacy.ts';
import { type Fields, recordsIn } from '../../legacy/said.ts';
import { orForbidden, readSecrets } from '../../read-secrets.ts';
import { CONFIG_KEY, type LegacyNats } from '../legacy.ts';
import type { FoundSecret } from '../../state.ts';
import type { FoundConfig } from '../state.ts';
import { SERVERS_MAX } from '../ask-servers.ts';
import { chartConfigIn } from './chart-config.ts';
import { digestOf } from './chart-digest.ts';
import { parsed, passwordsOf, wordIn } from './chart-text.ts';

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;

export async function readChartConfig(
  kube: KubeClient,
  legacy: LegacyNats,
  signal: AbortSignal,
): Promise<FoundConfig> {
  const found = await readText(kube, legacy, signal);
  if ('is' in found) return found;
  const { text, resourceVersion } = found;
  const config = chartConfigIn(text);
  if (typeof config === 'string') return { is: 'odd', why: config };
  const fields = parsed(text) ?? {};
  const wanted = variablesIn(fields);
  const places = placesOf(legacy);
  const unknown = wanted.filter((name) => !places.has(name));
  const lacks = unknown.map((name) => `a password in $${name}, which no container has by its name`);
  const named = wanted.flatMap((name) => places.get(name) ?? []);
  const names = named.flatMap(({ secret = [] }) => secret);
  const secrets = await readSecrets(kube, legacy.namespace, names, signal);
  const told = { ...config, lacks: [...config.lacks, ...lacks, ...argumentsOf(legacy)] };
  return {
    is: 'found',
    resourceVersion,
    config: told,
    digests:
      told.lacks.length > 0 ? new Map() : digestsOf(legacy, fields, valuesIn(places, secrets)),
    secrets: [...new Set(names)],
    unread: unreadIn(named, secrets),
  };
}

type Secrets = ReadonlyMap<string, FoundSecret>;

/** It is known before anything is begun. */
const unreadIn = (places: readonly Place[], secrets: Secrets) =>
  places.flatMap(({ secret: name = '', key = '' }) => {
    const found = secrets.get(name);
    if (found?.is === 'forbidden') return [{ name }];
    return name === '' || heldIn(found, key) !== undefined ? [] : [{ name, key }];
  });

export async function readChartPasswords(
  kube: KubeClient,
  legacy: LegacyNats,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = await readText(kube, legacy, signal);
  if ('is' in found) return new Map();
  const fields = parsed(found.text) ?? {};
  const places = placesOf(legacy);
  const asked = variablesIn(fields).map((name) => places.get(name)?.secret ?? '');
  const secrets = await readSecrets(kube, legacy.namespace, asked, signal);
  const valueOf = valuesIn(places, secrets);
  const all = [...passwordsOf(fields)].map(
    ([user, told]) => [user, 'text' in told ? told.text : valueOf(told.variable)] as const,
  );
  return new Map(all.filter((one): one is [string, string] => one[1] !== undefined));
}

type ValueOf = (variable: string) => string | undefined;

const valuesIn = (places: ReadonlyMap<string, Place>, secrets: Secrets): ValueOf => {
  return (variable) => {
    const { value, secret = '', key = '' } = places.get(variable) ?? {};
    return value ?? heldIn(secrets.get(secret), key);
  };
};

/** By pods. */
function digestsOf(legacy: LegacyNats, config: Fields, valueOf: ValueOf): Map<string, string> {
  const pods = Array.from(
    { length: Math.min(legacy.replicas, SERVERS_MAX) },
    (_, at) => `${legacy.name}-${at}`,
  );
  const told = pods.flatMap((pod) => {
    const digest = digestOf(config, (one) => ofPod(legacy, pod, one) ?? valueOf(one));
    return digest === undefined ? [] : [[pod, digest] as const];
  });
  return new Map(told);
}

/** The chart puts the name of the pod into variables; undefined for all others. */
function ofPod(legacy: LegacyNats, pod: string, variable: string): string | undefined {
  if (variable === 'POD_NAME') return pod;
  const all = recordsIn(containerOf(legacy)['env']);
  const text = textOf(all.findLast(({ name }) => name === variable)?.['value']);
  return text.includes(POD_NAME) ? wordIn(text.replaceAll(POD_NAME, pod)) : undefined;
}

const POD_NAME = '$(POD_NAME)';

const heldIn = (secret: FoundSecret | undefined, key: string): string | undefined =>
  secret?.is === 'found' ? wordIn(secret.data[key] ?? '') : undefined;

const variablesIn = (config: Fields): readonly string[] =>
  [...passwordsOf(config).values()].flatMap((one) => ('variable' in one ? one.variable : []));

async function readText(
  kube: KubeClient,
  { namespace, configName: name }: LegacyNats,
  signal: AbortSignal,
): Promise<
  | { readonly text: string; readonly resourceVersion: string }
  | { readonly is: 'forbidden' | 'missing' }
> {
  if (name === '') return { is: 'missing' };
  const object = await orForbidden(kube.get(CONFIG_MAPS, { namespace, name }, { signal }));
  if (object === undefined) return { is: 'forbidden' };
  const text = textOf(fieldOf({ ...object }, 'data')[CONFIG_KEY]);
  if (object === null || text === '') return { is: 'missing' };
  return { text, resourceVersion: object.metadata.resourceVersion };
}

/** That of the servers. */
export function containerOf({ spec }: Pick<LegacyNats, 'spec'>): Fields {
  const template = fieldOf(fieldOf(spec, 'template'), 'spec');
  return recordsIn(template['containers']).find((one) => one['name'] === 'nats') ?? {};
}

/** Arguments count more than the file: they may have a login, routes or streams. */
function argumentsOf(legacy: LegacyNats): readonly string[] {
  const { command, args } = containerOf(legacy);
  const isUsual =
    command === undefined && isSame(args, ['--config', `/etc/nats-config/${CONFIG_KEY}`]);
  return isUsual ? [] : ['a command or arguments of its own in container nats (container.merge)'];
}

interface Place {
  readonly value?: string;
  readonly secret?: string;
  readonly key?: string;
}

/** Where the environment of the servers comes from, by variables. */
function placesOf(legacy: LegacyNats): ReadonlyMap<string, Place> {
  return new Map(
    recordsIn(containerOf(legacy)['env']).flatMap((one) => {
      const place = placeOf(one);
      return place === undefined ? [] : [[textOf(one['name']), place] as const];
    }),
  );
}

function placeOf(variable: Fields): Place | undefined {
  const { name: secret, key } = fieldOf(fieldOf(variable, 'valueFrom'), 'secretKeyRef');
  if (typeof secret === 'string' && typeof key === 'string') return { secret, key };
  const { value } = variable;
  // With others in it only the kubelet knows what it becomes.
  const word = typeof value === 'string' && !value.includes('$(') ? wordIn(value) : undefined;
  return word === undefined ? undefined : { value: word };
}
