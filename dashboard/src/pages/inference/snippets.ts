/** How to call a deployment from a shell and from Python, without the key in a command line. Pure. */
import { OPENAI_PATH } from "@resontech/contracts/openai-surface";
import { curlWithKey } from "../../api/curl-with-key.ts";

const CURL = curlWithKey("X-API-Key: %s", "RESON_INFERENCE_API_KEY");

/** Of a program of one's own, which has paths of its own. */
export function ownSnippet(endpoint: string): string {
  return [...CURL, `  ${endpoint}/PATH`].join("\n");
}

export function embedSnippet(endpoint: string, texts: readonly string[]): string {
  return [
    ...CURL,
    "  --header 'Content-Type: application/json' \\",
    `  --data @- ${endpoint}${OPENAI_PATH}/embeddings <<'END'`,
    JSON.stringify({ model: endpoint.split("/").at(-1), input: texts }, null, 2),
    "END",
  ].join("\n");
}

/** An endpoint is the appliance's own address and an id: a shell reads no sign of it. */
export function curlSnippet(endpoint: string): string {
  return [
    ...CURL,
    "  --header 'Content-Type: application/octet-stream' \\",
    `  --data-binary @photo.png ${endpoint}/predict`,
  ].join("\n");
}

export function pythonSnippet(endpoint: string): string {
  return [
    "# pip install resontech==0.3.0; SSL_CERT_FILE names the root certificate",
    "import os",
    "from resontech import InferenceClient",
    "",
    "client = InferenceClient(",
    `    url=${JSON.stringify(endpoint)},`,
    '    predict_api_key=os.environ["RESON_INFERENCE_API_KEY"],',
    ")",
    'print(client.predict_file("photo.png"))',
  ].join("\n");
}
