// The annotation by which members of an EtcdCluster join those of a legacy cluster: the takeover
// writes it with the EtcdCluster, and whoever may write EtcdClusters may write it, too. So it leads
// to pods of the same namespace and of one legacy cluster alone, and to their port for peers. Pure.

/** They are dialled there alone. It is that of our members, whose names build on this file. */
const PEER_PORT = 2380;

/** On an EtcdCluster, beside the id of their cluster: the members that its first one joins. */
export const JOINS_ANNOTATION = 'ballast.dev/etcd-joins';

/** A member of before, as the list of members has it. */
export interface OldMember {
  readonly name: string;
  /** `http://<pod>.<legacy cluster>.<namespace>.svc:2380`. */
  readonly url: string;
}

/** Why the annotation is not followed. */
export interface JoinsRefused {
  readonly reason: 'JoinsRefused';
  readonly message: string;
}

/** With nine that join them they are as many as an EtcdPeer is told of. */
const MEMBERS_MAX = 7;
/** A pod, a Service and a namespace have names of 63 characters each. */
const TEXT_MAX = MEMBERS_MAX * 400;

/** A flag has it before `=`, among others that commas part. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;
const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const PEER_URL = new RegExp(`^http://${LABEL}\\.(${LABEL})\\.(${LABEL})\\.svc:${PEER_PORT}$`);

/** The text of the annotation; or why these members cannot be joined. */
export function joinsText(members: readonly OldMember[], namespace: string): string | JoinsRefused {
  const text = JSON.stringify(members.map(({ name, url }) => ({ name, url })));
  const read = joinsIn(text, namespace);
  return 'reason' in read ? read : text;
}

/** The members in it; or why it cannot be followed. */
export function joinsIn(text: string, namespace: string): readonly OldMember[] | JoinsRefused {
  const members = text.length > TEXT_MAX ? undefined : membersIn(text);
  if (members === undefined) return refused('is no list of members of old, with name and url');
  if (members.length === 0 || members.length > MEMBERS_MAX) {
    return refused(`names ${members.length} members, and has to name 1 to ${MEMBERS_MAX}`);
  }
  const unfit = members.find((one) => !isFit(one, namespace));
  if (unfit !== undefined) {
    const form = `http://POD.CLUSTER.${namespace}.svc:${PEER_PORT}`;
    return refused(`names ${unfit.name} at ${unfit.url}, and members are at ${form} alone`);
  }
  const clusters = new Set(members.map(legacyNameOf));
  if (clusters.size > 1) return refused(`names members of ${[...clusters].join(' and ')}`);
  const isTwice = (of: (one: OldMember) => string): boolean =>
    new Set(members.map(of)).size < members.length;
  if (isTwice(({ name }) => name) || isTwice(({ url }) => url)) {
    return refused('names a member twice');
  }
  return members;
}

/** The value of label `etcd_cluster` on their pods, which is the name of their Service, too. */
export const legacyNameOf = ({ url }: OldMember): string => PEER_URL.exec(url)?.[1] ?? '';

function isFit({ name, url }: OldMember, namespace: string): boolean {
  return NAME.test(name) && PEER_URL.exec(url)?.[2] === namespace;
}

function membersIn(text: string): readonly OldMember[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(value) ? value.map(memberIn) : undefined;
}

/** Anything else has neither, and is refused for that. */
function memberIn(value: unknown): OldMember {
  const { name, url }: { readonly name?: unknown; readonly url?: unknown } = Object(value);
  return {
    name: typeof name === 'string' ? name : '',
    url: typeof url === 'string' ? url : '',
  };
}

const refused = (why: string): JoinsRefused => ({
  reason: 'JoinsRefused',
  message: `Annotation ${JOINS_ANNOTATION} ${why}. Nothing is started.`,
});
