// An event as its source would send it, to a function on this machine.

export async function sendEvent(
  port: number,
  type: string,
  data: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': crypto.randomUUID(),
    'ce-source': 'test',
    'ce-type': type,
    ...more,
  };
  const body = JSON.stringify(data);
  return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
}
