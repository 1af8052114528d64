// A place for takeovers of a NATS of the NATS operator: three servers of 2.1.9 with logins and TLS
// everywhere as bare pods, an operator of them, and clients with TLS.
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { startOperator } from '../../builders/legacy-kind.ts';
import { defineLegacyNats, LegacyNats } from '../../builders/legacy-nats.ts';
import { startOldNats } from '../../builders/old-nats-servers.ts';
import { oldPods } from '../../builders/old-pods.ts';
import { LOGIN, namespace, type Opened, openPlace, RoutedPlace } from './routed-place.ts';

const OLD = oldPods(['old-1', 'old-2', 'old-3'], `old-mgmt.${namespace}.svc`);
/** A NatsCluster for each time that it is rolled back. */
const INTO = Array.from({ length: 8 }, (_, at) => `next-${at}`);
const HOST = `old.${namespace}.svc`;

const validity = { fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 };
const authority = makeAuthority('nats', validity);
const names = INTO.flatMap((name) => [name, `*.${name}-headless`]);
const hosts = [HOST, ...OLD.map(({ ip }) => ip), ...OLD.map(({ host }) => host)];
const { certPem, keyPem } = issue(
  authority,
  { hosts: [...hosts, ...names.map((name) => `${name}.${namespace}.svc`)] },
  validity,
);
const USERS = { users: [{ username: LOGIN.user, password: LOGIN.pass }] };
const SECRETS = ['old', 'new-tls', ...INTO.map((name) => `${name}-users`)];
const FILES = { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': authority.certPem };

export class NatsTakeoverPlace extends RoutedPlace {
  readonly old: LegacyNats;
  override readonly servers = OLD;
  protected override readonly tls = { ca: authority.certPem, servername: HOST };
  protected override readonly rights = takeoverRights(namespace, SECRETS);

  private constructor(opened: Opened) {
    super(opened);
    this.old = new LegacyNats(this.kube, namespace, 'old');
  }

  static async start(): Promise<NatsTakeoverPlace> {
    const one = new NatsTakeoverPlace(await openPlace(OLD));
    await one.begin();
    return one;
  }

  protected override startOld(): Promise<ReadonlyMap<string, Part>> {
    const { plane } = this.place;
    return startOldNats({
      dir: plane.dir,
      servers: OLD,
      certPem,
      keyPem,
      caPem: authority.certPem,
      config: { authorization: USERS },
      add: (spec) => plane.add(spec),
    });
  }

  /** As an operator leaves it. */
  protected override async leave(): Promise<void> {
    await this.place.putSecret({ namespace, name: '' }, 'new-tls', FILES);
    await defineLegacyNats(this.kube);
    const tls = { cert_file: 'tls.crt' };
    await this.old.create(OLD, { cluster: { port: 6222, tls }, authorization: USERS, tls });
    await startOperator(this.kube, namespace, 'nats-operator');
  }

  /** The operator makes none anew. */
  protected override async follow(): Promise<void> {
    await Promise.resolve();
  }

  override async confirm(name: string, into: string): Promise<string> {
    const given = { secretName: 'new-tls' };
    await this.old.takeOver(name, { tls: { clients: given, routes: given } }, into);
    return this.confirmPlan(name);
  }
}
