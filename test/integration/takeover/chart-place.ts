// A place for takeovers of a NATS of Helm's chart: three servers of 2.14 with a login, as pods of a
// StatefulSet with its real controller.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { askMonitor } from '../../../shared/nats/monitor.ts';
import { PODS } from '../../../shared/stateful/parts.ts';
import { helmIn } from '../../builders/helm.ts';
import {
  chartConfig,
  chartConfigMap,
  chartServices,
  chartStatefulSet,
} from '../../builders/legacy-chart.ts';
import { createTakeover, runsAt } from '../../builders/legacy-kind.ts';
import { oldPods } from '../../builders/old-pods.ts';
import { until } from '../../builders/versioned-kind.ts';
import { LOGIN, namespace, type Opened, openPlace, RoutedPlace } from './routed-place.ts';

const OLD = oldPods(['old-0', 'old-1', 'old-2'], `old-headless.${namespace}.svc`);
const place = { namespace, name: 'old' };
const USERS = { users: [{ user: LOGIN.user, password: '<< $WEB_PASSWORD >>' }] };
/** A NatsCluster for each time that it is rolled back. */
const INTO = ['next-0', 'next-1', 'next-2', 'next-3', 'next-4'];
const SECRETS = ['web-login', ...INTO.map((name) => `${name}-users`)];

/** NATS reads a variable as a part of its file. */
const QUOTED = JSON.stringify(LOGIN.pass);
const CHART = { apiVersion: 'v2', name: 'nats', version: '2.14.2', appVersion: '2.14.2' };

const TEXT = chartConfig('old', { authorization: USERS });

/** Addresses as flags: a server tells a digest of its file, which is that of the ConfigMap. */
function argumentsAt(ip: string): readonly string[] {
  const routes = OLD.map((one) => `nats://${one.ip}:6222`).join(',');
  return ['--addr', ip, '--cluster', `nats://${ip}:6222`, '--routes', routes];
}

function objects(): readonly Manifest[] {
  const secretKeyRef = { name: 'web-login', key: 'password' };
  const env = [{ name: 'WEB_PASSWORD', valueFrom: { secretKeyRef } }];
  return [chartConfigMap(place, TEXT), ...chartServices(place), chartStatefulSet(place, { env })];
}

export class ChartTakeoverPlace extends RoutedPlace {
  override readonly servers = OLD;
  protected override readonly tls = undefined;
  protected override readonly rights = takeoverRights(namespace, SECRETS, undefined, [], ['old']);

  static async start(): Promise<ChartTakeoverPlace> {
    const opened: Opened = await openPlace(OLD);
    const one = new ChartTakeoverPlace(opened);
    await one.begin();
    return one;
  }

  protected override async startOld(): Promise<ReadonlyMap<string, Part>> {
    const { plane } = this.place;
    const command = await resolvePart('nats-server-previous');
    const started = OLD.map(async ({ name, ip }) => {
      const path = join(plane.dir, `${name}.conf`);
      await writeFile(path, TEXT);
      const url = `http://${ip}:8222`;
      const ready = async (signal: AbortSignal) =>
        (await askMonitor(url, { timeoutMs: 2_000, signal })).asksLogin;
      const env = { SERVER_NAME: name, WEB_PASSWORD: QUOTED };
      const args = ['-c', path, '-P', `${path}.pid`, ...argumentsAt(ip)];
      const spec = { name, command, args, env, url, ready };
      return [name, await plane.add(spec)] as const;
    });
    return new Map(await Promise.all(started));
  }

  /** Tells what went wrong; nothing where all went well. */
  async helm(verb: string, ...args: readonly string[]): Promise<string> {
    const { plane } = this.place;
    const helm = helmIn(join(plane.dir, 'helm'), plane.kubeconfigPath);
    const { status, out, err } = await helm(verb, ...args, '--namespace', namespace);
    return status === 0 ? '' : `${out}${err}`;
  }

  /** As Helm leaves it. */
  protected override async leave(): Promise<void> {
    await this.place.putSecret(place, 'web-login', { password: QUOTED });
    const dir = join(this.place.plane.dir, 'chart');
    await mkdir(join(dir, 'templates'), { recursive: true });
    await writeFile(join(dir, 'Chart.yaml'), stringify(CHART));
    // Objects are as the chart makes them of its values, and no templates.
    const made = objects().map((object) => stringify(object));
    await writeFile(join(dir, 'templates', 'made.yaml'), made.join('---\n'));
    const refused = await this.helm('install', 'old', dir);
    if (refused !== '') throw new Error(refused);
    const isThere = async () => (await this.namesOf(PODS)).length === OLD.length;
    await until('pods of the StatefulSet', isThere);
    await this.follow();
  }

  /** The controller of StatefulSets makes and ends them; where they are only a test knows. */
  protected override async follow(): Promise<void> {
    const { items } = await this.kube.list(PODS, { namespace });
    for (const { metadata, status } of items) {
      const { name } = metadata;
      const ip = OLD.find((one) => one.name === name)?.ip;
      if (ip === undefined || Object(status).podIP !== undefined) continue;
      await runsAt(this.kube, { namespace, name }, ip);
    }
  }

  override async confirm(name: string, into: string): Promise<string> {
    const legacy = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'old' };
    const spec = { legacy, mode: 'Route', into: { name: into } };
    await createTakeover(this.kube, { namespace, name }, spec);
    return this.confirmPlan(name);
  }
}
