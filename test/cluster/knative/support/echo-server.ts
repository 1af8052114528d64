// The program of a test's function: it remembers what it was sent, and answers as its environment
// says. It stands alone, because it is all that its image holds beside Node.
import { createServer, type IncomingMessage } from 'node:http';

interface Seen {
  readonly id: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const { PORT = '8080', ANSWER = 'nothing', REPLY_TYPE = 'test.reply' } = process.env;
const seen: Seen[] = [];

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    const { headers, method } = request;
    if (method === 'GET') return response.end(JSON.stringify(seen));
    const id = String(headers['ce-id'] ?? '');
    const type = String(headers['ce-type'] ?? '');
    seen.push({ id, type, headers, body });
    if (id === '' || ANSWER === 'json') {
      return response.setHeader('content-type', 'application/json').end('{"seen":true}');
    }
    if (ANSWER === 'event') {
      for (const name of ['ce-specversion', 'ce-source']) {
        response.setHeader(name, String(headers[name]));
      }
      // The name of the object lets a test know its own replies.
      response.setHeader('ce-about', String(headers['ce-name'] ?? ''));
      response.setHeader('ce-id', `reply-to-${id}`).setHeader('ce-type', REPLY_TYPE);
      return response.setHeader('content-type', 'application/json').end(JSON.stringify({ id }));
    }
    return response.writeHead(ANSWER === 'nothing' ? 204 : Number(ANSWER)).end();
  });
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

server.listen(Number(PORT));
process.once('SIGTERM', () => server.close());
