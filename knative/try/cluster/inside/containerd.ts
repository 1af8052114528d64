// containerd of one node: its own store, its own state, its own bridge for pods. Nothing of the
// machine's containerd is read or written.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../commands.ts';
import type { PartSpec } from '../../local/process/part.ts';
import { PAUSE_IMAGE } from '../images.ts';
import type { InsideConfig } from './config.ts';
import { GO_GC, inCgroup, type NodePlace } from './place.ts';

export async function containerdSpec(
  { parts, path, hierarchies, runc }: InsideConfig,
  node: NodePlace,
): Promise<PartSpec> {
  const file = join(node.dir, 'containerd.toml');
  await mkdir(node.dir, { recursive: true });
  await writeFile(file, configText(runc, node));
  await writeNetwork(node);
  return {
    name: `${node.name}/containerd`,
    ...inCgroup(`${node.cgroup}/system`, hierarchies, [parts.containerd, '--config', file]),
    env: { ...GO_GC, PATH: path, HOME: node.dir, TMPDIR: node.tmpDir },
    url: `unix://${node.socket}`,
    ready: async () => {
      await run(parts.ctr, '--address', node.socket, 'version');
      return true;
    },
  };
}

export async function importInto(ctr: string, node: NodePlace, archive: string): Promise<void> {
  const namespace = ['--address', node.socket, '--namespace', 'k8s.io'];
  await run(ctr, ...namespace, 'images', 'import', '--local', archive);
}

function configText(runc: string, node: NodePlace): string {
  const text = (value: string): string => JSON.stringify(value);
  return `version = 3
root = ${text(join(node.dir, 'containerd'))}
state = ${text(join(node.stateDir, 'containerd'))}
disabled_plugins = ['io.containerd.nri.v1.nri', 'io.containerd.tracing.processor.v1.otlp']
oom_score = 0

[grpc]
address = ${text(node.socket)}

[debug]
level = 'warn'

[plugins.'io.containerd.internal.v1.opt']
path = ${text(join(node.dir, 'opt'))}

[plugins.'io.containerd.cri.v1.images']
snapshotter = 'overlayfs'

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = ${text(PAUSE_IMAGE)}

[plugins.'io.containerd.cri.v1.runtime']
# Without CAP_SYS_RESOURCE nobody can be protected better than containerd itself is.
restrict_oom_score_adj = true
enable_cdi = false
# Every second by default, from the shim of each container; nobody here asks for these.
stats_collect_period = '10m'
stats_retention_period = '10m'

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = [${text(node.networkPlugins)}]
conf_dir = ${text(node.networkDir)}

[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = 'runc'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = ${text(runc)}
Root = ${text(join(node.stateDir, 'runc'))}
SystemdCgroup = false
`;
}

async function writeNetwork({ networkDir, dir, addresses }: NodePlace): Promise<void> {
  const { bridge, podCidr, gateway } = addresses;
  const ipam = {
    type: 'host-local',
    dataDir: join(dir, 'addresses'),
    ranges: [[{ subnet: podCidr, gateway }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const list = {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      { type: 'bridge', bridge, isGateway: true, hairpinMode: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
  await mkdir(networkDir, { recursive: true });
  await writeFile(join(networkDir, '10-pods.conflist'), JSON.stringify(list));
}
