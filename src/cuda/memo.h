/* A bounded table of what was found out about a key. A key has one place in it, which it may lose to another. */
#ifndef MXCU_MEMO_H
#define MXCU_MEMO_H

#include <cstdint>
#include <cstring>

/* A key is N_KEY numbers. Value starts as Value() and has close(), which frees what it holds. Not thread-safe. */
template <class Value, int N_KEY, int PLACES> struct mxcu_memo {
    struct place {
        bool taken = false;
        int64_t key[N_KEY];
        Value value;
    } places[PLACES];

    /* The key's value, which is as it was left; known: 0 if it is new. */
    Value *find(const int64_t (&key)[N_KEY], int *known) {
        uint64_t hash = 0;
        for (int64_t number : key)
            hash = (hash ^ (uint64_t)number) * 0x9e3779b97f4a7c15u ^ hash >> 29;
        place *p = &places[(hash >> 32) % PLACES];
        *known = p->taken && memcmp(p->key, key, sizeof p->key) == 0;
        if (!*known) {
            p->value.close();
            p->value = Value();
            memcpy(p->key, key, sizeof p->key);
            p->taken = true;
        }
        return &p->value;
    }
};

#endif
