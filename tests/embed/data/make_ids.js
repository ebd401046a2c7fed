// The tokens that huggingface's tokenizers (npm: tokenizers 0.23.2, the library in Rust) has for
// texts.json with each tokenizer here: npm install tokenizers@0.23.2 && node make_ids.js
const { Tokenizer } = require('tokenizers');
const fs = require('fs');

async function main() {
  const texts = JSON.parse(fs.readFileSync('texts.json', 'utf8'));
  for (const file of fs.readdirSync('.').filter((name) => name.endsWith('.tokenizer.json'))) {
    const tokenizer = Tokenizer.fromString(fs.readFileSync(file, 'utf8'));
    const lines = [];
    for (const text of texts) {
      const encoding = await tokenizer.encode(text, null, { addSpecialTokens: false });
      lines.push(JSON.stringify(encoding.getIds()));
    }
    fs.writeFileSync(file.replace('.tokenizer.', '.ids.'), `[${lines.join(',\n')}]\n`);
  }
}

main();
