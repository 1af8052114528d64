// A Prometheus beside the functions, as `npm run cluster -- --with-prometheus` has it, but that it
// looks more often, and that alerts fire at once.
import { request } from 'undici';
import { extraPodArchive } from '../../../../knative/try/cluster/extra-pod.ts';
import {
  givenAsShipped,
  monitoringObjects,
  PROMETHEUS,
} from '../../../../knative/try/cluster/monitoring/objects.ts';
import { providedCluster } from '../../support/provided-cluster.ts';
import { eventually, type Rig } from './rig.ts';
import { NAMESPACES } from './world.ts';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
}

export class Monitoring {
  readonly #rig: Rig;
  readonly #url: string;

  private constructor(rig: Rig, url: string) {
    this.#rig = rig;
    this.#url = url;
  }

  static async start(rig: Rig): Promise<Monitoring> {
    const cluster = await providedCluster();
    await cluster.importImage(await extraPodArchive(PROMETHEUS));
    const { config, rules } = await givenAsShipped();
    const given = {
      config: config.replaceAll(': 15s', ': 2s'),
      rules: rules.replaceAll(/^ +for: .*\n/gm, ''),
    };
    const namespace = NAMESPACES.monitoring;
    await rig.apply(...monitoringObjects(namespace, given));
    const address = await rig.addressOf(namespace, 'prometheus');
    const monitoring = new Monitoring(rig, `http://${address}:9090`);
    await eventually(() => monitoring.query('up'));
    return monitoring;
  }

  async query(query: string): Promise<readonly Series[]> {
    const body = new URLSearchParams({ query }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await request(`${this.#url}/api/v1/query`, { method: 'POST', headers, body });
    const { status, error, data } = Object(await answer.body.json());
    if (status !== 'success') throw new Error(`${query}: ${String(error)}`);
    return Object(data).result;
  }

  /** Those that fire for an EtcdCluster. */
  async alertsOf(etcdcluster: string): Promise<readonly string[]> {
    const firing = await this.query(`ALERTS{alertstate="firing",etcdcluster="${etcdcluster}"}`);
    return firing.map(({ metric }) => String(metric['alertname'])).toSorted();
  }

  /** Nobody is looked at any more: to be scraped each two seconds costs every function. */
  async close(): Promise<void> {
    await this.#rig.kill('app=prometheus', NAMESPACES.monitoring);
  }
}
