// Answers of the model's servers over their system account.
import type { Done, System } from '../../../../shared/nats/system.ts';
import type { ClusterModel } from './cluster-model.ts';

export function systemOf(model: ClusterModel): System {
  const about = (name: string) => {
    const { id = '', version: ver = '' } = model.servers.get(name) ?? {};
    return { server: { name, id, ver } };
  };
  const all = [...model.servers.values()];
  const change = async (write: string, how: () => void): Promise<Done> => {
    await model.kube.write(`nats ${write}`, how);
    return { isDone: true };
  };
  const system = {
    servers: async () =>
      all.map(({ name, digest }) => ({
        ...about(name),
        data: { config_digest: digest, start: '' },
      })),
    jetStream: async () => all.map(({ name }) => ({ ...about(name), data: jszOf(model, name) })),
    health: async () => all.map(({ name }) => ({ ...about(name), data: { status: 'ok' } })),
    reload: (id: string) =>
      change('reload', () => {
        const server = [...model.servers.values()].find((one) => one.id === id);
        if (server !== undefined) Object.assign(server, model.fileOf(server.name));
      }),
    stepDownMeta: (to: string | undefined) =>
      change('step down', () => {
        model.metaLeader = to ?? [...model.servers.keys()].find((one) => one !== model.metaLeader);
      }),
    moveStream: async ({ stream: name, server }: { stream: string; server: string }) => {
      const { refusesMoves: why } = model;
      if (why === undefined) return change('move', () => move(model, name, server));
      model.movesRefused += 1;
      return { isDone: false, why, isAnswered: true };
    },
    removePeer: (peerId: string) =>
      change('remove peer', () => {
        if (model.servers.has(peerId)) throw new Error(`${peerId} was forgotten while it runs`);
        model.metaPeers.delete(peerId);
      }),
    close: async () => undefined,
  };
  return system as unknown as System;
}

function move(model: ClusterModel, name: string, server: string): void {
  const stream = model.streams.find((one) => one.stream === name);
  if (stream === undefined || stream.moving !== undefined) return;
  const free = [...model.servers.keys()].find((one) => !stream.servers.includes(one));
  if (free === undefined) return;
  const to = stream.servers.map((one) => (one === server ? free : one));
  stream.moving = { to, ticks: 2 };
}

function jszOf(model: ClusterModel, reporter: string) {
  const peer = (name: string, isCurrent: boolean) => ({
    name,
    peer: name,
    current: isCurrent,
    active: 1,
    offline: !model.servers.has(name),
  });
  const others = [...model.metaPeers].filter((one) => one !== model.metaLeader);
  const streams = model.streams
    .filter(({ servers }) => servers.includes(reporter))
    .map(({ stream, servers, behind, replicas, moving }) => {
      const leader = servers.find((one) => model.servers.has(one) && !behind.has(one)) ?? '';
      const members = servers.filter((one) => one !== leader);
      return {
        name: stream,
        config: { num_replicas: replicas, storage: 'file' },
        cluster: {
          leader,
          replicas: members.map((one) => peer(one, model.servers.has(one) && !behind.has(one))),
          ...(moving === undefined ? {} : { desired: {} }),
        },
      };
    });
  return {
    meta_cluster: {
      leader: model.metaLeader ?? '',
      peer: model.metaLeader ?? '',
      cluster_size: model.metaPeers.size,
      replicas: others.map((one) => peer(one, model.servers.has(one))),
    },
    account_details: [{ name: 'DEFAULT', stream_detail: streams }],
  };
}
