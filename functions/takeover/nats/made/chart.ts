// The chart `nats` of nats-io, from 1.0 on: a StatefulSet with its pods, Service NAME and
// NAME-headless, and ConfigMap NAME-config. Helm keeps what it made, so its mark is taken off the
// Service of the clients before the StatefulSet goes.
import { STATEFUL_SETS } from '../../../../shared/stateful/parts.ts';
import { textOf } from '../../../../shared/kube/json.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { fieldOf, legacyOf } from '../../legacy.ts';
import { type Fields, recordsIn, resourcesOf } from '../../legacy/said.ts';
import type { Takeover } from '../../object.ts';
import { type ChartRelease, type LegacyNats, selectorOf } from '../legacy.ts';
import type { FoundServer } from '../state.ts';
import { containerOf, readChartConfig, readChartPasswords } from './chart-config-map.ts';
import { chartNotes } from './chart-notes.ts';
import { notLoadedNotes } from './chart-loaded.ts';
import { chartObjects } from './chart-objects.ts';
import { refuseChart } from './chart-refuse.ts';
import { chartService, leadChartToNew, leadChartToOld } from './chart-service.ts';
import type { NatsMaker } from './maker.ts';

/** More than a NatsCluster of ours may have. */
const SIZE_MAX = 100;
/** Where its servers find what they were told. */
const VOLUME = 'config';

export const CHART: NatsMaker = {
  ref: STATEFUL_SETS,
  legacyOf: chartNatsOf,
  serviceOf: chartService,
  configKind: 'ConfigMap',
  readConfig: readChartConfig,
  readPasswords: readChartPasswords,
  grantsOf: ({ takeover, config }) => ({
    chart: takeover.spec.legacy.name,
    secrets: config.is === 'found' ? (config.secrets ?? []) : [],
  }),
  planned: chartObjects,
  words: {
    object: (name) => `StatefulSet ${name} of the chart`,
    leaving: (names) => `The StatefulSet is scaled down one by one, so that ${names} leave`,
    appeared: (takeover) =>
      'so somebody has scaled the StatefulSet up. Scale it down again ' +
      `(${scaleLine(takeover, takeover.status.work?.servers?.length ?? 0)})`,
    endsBy: (takeover, server) => scaleLine(takeover, placeOf(server)),
    restored: 'Have Helm write it anew (helm upgrade)',
    takeOut: 'take it out of the values of the chart (helm upgrade)',
    askLogin: 'have the chart ask for it then (config.merge.authorization, helm upgrade)',
    routeLogin: 'config.cluster.routeURLs.user',
    routeAuthority: 'tlsCA',
    monitoringTls: 'config.monitor.tls',
  },
  refuse: refuseChart,
  notes: (state, legacy) => [...chartNotes(state, legacy), ...notLoadedNotes(state)],
  nextOf: (pods) => pods.toSorted((one, other) => placeOf(other) - placeOf(one))[0],
  leave: (server, { uid, resourceVersion, replicas }) =>
    placeOf(server) < replicas
      ? { type: 'scale-down', uid, resourceVersion, replicas: placeOf(server) }
      : undefined,
  // A pod that is made anew has its name again.
  appeared: ({ takeover, pods }) => {
    const known = new Set(takeover.status.work?.servers?.map(({ name }) => name));
    return pods.map(({ name }) => name).filter((name) => !known.has(name));
  },
  leadToNew: leadChartToNew,
  leadToOld: leadChartToOld,
};

const scaleLine = ({ namespace, spec: { legacy } }: Takeover, replicas: number): string =>
  `kubectl -n ${namespace} scale statefulset ${legacy.name} --replicas=${replicas}`;

const placeOf = ({ name }: Pick<FoundServer, 'name'>): number =>
  Number(name.slice(name.lastIndexOf('-') + 1));

function chartNatsOf(object: KubeObject): LegacyNats {
  const legacy = legacyOf(object, SIZE_MAX, ({ replicas }) => replicas);
  const { name, spec } = legacy;
  const labels = textsIn(fieldOf(fieldOf(spec, 'selector'), 'matchLabels'));
  const template = fieldOf(fieldOf(spec, 'template'), 'spec');
  const config = recordsIn(template['volumes']).find((one) => one['name'] === VOLUME) ?? {};
  const { replicas } = spec;
  return {
    ...legacy,
    resourceVersion: object.metadata.resourceVersion,
    clientService: name,
    routeService: textOf(spec['serviceName']),
    configName: textOf(fieldOf(config, 'configMap')['name']),
    selector: selectorOf(labels),
    labels,
    resources: resourcesOf(fieldOf(containerOf(legacy), 'resources')),
    // The API server fills in 1 where none is said.
    replicas: typeof replicas === 'number' ? replicas : 1,
    chart: releaseOf(object),
  };
}

const textsIn = (fields: Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, textOf(value)]));

/** A chart of somebody else may have the same name, and mounts another file. */
const MOUNTED = '/etc/nats-config';

function releaseOf(object: KubeObject): ChartRelease {
  const { labels = {}, annotations = {} } = object.metadata;
  const version = /^nats-(\d+\.\d+\.\d+.*)$/.exec(labels['helm.sh/chart'] ?? '')?.[1];
  const isOfIt = JSON.stringify(object['spec'] ?? {}).includes(`"mountPath":"${MOUNTED}"`);
  return {
    version: isOfIt ? version : undefined,
    release: labels['app.kubernetes.io/instance'] ?? '',
    isOfHelm: HELM_RELEASE in annotations,
    appliedBy: APPLIERS.find(([mark]) => mark in labels || mark in annotations)?.[1],
  };
}

/** Helm writes it on all that it makes; who applies its templates does not. */
const HELM_RELEASE = 'meta.helm.sh/release-name';

/** Programs that apply a chart again and again, by what they write on its objects. */
const APPLIERS = [
  ['helm.toolkit.fluxcd.io/name', 'Flux'],
  ['argocd.argoproj.io/instance', 'Argo CD'],
  ['argocd.argoproj.io/tracking-id', 'Argo CD'],
] as const;

/** Whether a StatefulSet is of this chart at all. */
export const isOfChart = (object: KubeObject): boolean => releaseOf(object).version !== undefined;
