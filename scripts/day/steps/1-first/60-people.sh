step 'Two hundred people (OPERATING)'
types 'errand teams create Research'
{
  echo 'username,full_name,department,team,scenario'
  echo 'alice,Alice Doe,Research,Research,local'
  echo 'bob,Bob Roe,Research,Research,local'
  for number in {3..200}; do echo "user$number,Person $number,Sales,,"; done
} >people.csv
types 'head -n 4 people.csv'
types 'errand users import people.csv --dry-run'
sees '200' 'it says what would be done'
holds 'nobody is there yet' eval '! errand users show alice'
types 'errand users import people.csv --credentials credentials.csv --keys global --expires 365d'
types 'head -n 3 credentials.csv | sed -E "s/[A-Za-z0-9_-]{16,}/…/g"'
holds 'for nobody else to read' test "$(stat -c %a credentials.csv)" = 600
holds 'two hundred of them' test "$(wc -l <credentials.csv)" = 201
types 'errand users import people.csv --credentials again.csv --keys global --expires 365d'
sees 'unchanged|nothing' 'again, it changes nothing'
key_of() { grep "^$1," credentials.csv | grep -oE 'errand_[A-Za-z0-9_-]+'; }
alice=$(key_of alice)
bob=$(key_of bob)
keeps alice
keeps bob
types 'ask "$alice" "hello alice"'
sees 'hello alice' 'alice has an answer, with the key that she was handed'
types 'rm credentials.csv'
